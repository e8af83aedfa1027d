"""Columns beside trials: expanded, aligned, and saved."""

import copy
import pickle

import h5py
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import FileFormatError, InvalidInputError, TrialMismatchError
from bosaris_py.files.columns import Factor
from bosaris_py.trials import Conditions, Key, Ndx, TrialMetadata
from tests.forms import as_list
from tests.strategies import keys, names

KEY = Key(
    ["anna", "bert"],
    ["s1", "s2", "s3"],
    tar=[[True, False, True], [False, True, False]],
    non=[[False, True, False], [True, False, False]],
)


def metadata(trials=KEY) -> TrialMetadata:
    return TrialMetadata(
        trials,
        {"match": list("YNNYY"), "snr": np.array([1, 2, 3, np.nan, 5], dtype=np.float32)},
        {"gender": Factor([1, 0], ["m", "f"]), "sessions": np.array([1, 3], dtype=np.int16)},
        {"duration": [3.5, 12.0, 0.25], "noisy": [True, False, False]},
    )


class TestColumns:
    def test_by_trial(self):
        """Trials column by column: (anna, s1), (bert, s1), (anna, s2), (bert, s2), (anna, s3)."""
        found = metadata()
        assert found.names == ("match", "snr", "gender", "sessions", "duration", "noisy")
        assert found.column("match") == Factor.from_values(list("YNNYY"))
        assert found.column("gender").values().tolist() == list("fmfmf")
        assert found.column("sessions").tolist() == [1, 3, 1, 3, 1]
        assert found.column("duration").tolist() == [3.5, 3.5, 12.0, 12.0, 0.25]
        assert found.column("noisy").values().tolist() == ["True", "True"] + ["False"] * 3

    def test_of_models_and_segments(self):
        found = metadata()
        assert found.model_column("gender").values().tolist() == ["f", "m"]
        assert found.segment_column("duration").tolist() == [3.5, 12.0, 0.25]

    def test_values_by_id(self):
        """The order of a dict does not matter, nor ids that are not there."""
        found = TrialMetadata(
            KEY, None, {"sex": {"bert": "m", "carl": "m", "anna": "f"}},
            {"seconds": {"s3": 3.0, "s1": 1.0, "s2": 2.0}},
        )  # fmt: skip
        assert found.model_column("sex").values().tolist() == ["f", "m"]
        assert found.segment_column("seconds").tolist() == [1.0, 2.0, 3.0]
        with pytest.raises(InvalidInputError, match=r"for each segment; got none for 2 of 3: s1, "):
            TrialMetadata(KEY, None, None, {"seconds": {"s2": 1.0}})

    def test_types_are_kept(self):
        found = metadata()
        assert found.column("snr").dtype == np.float32
        assert found.column("sessions").dtype == np.int16
        assert found.column("match").codes.dtype == np.uint8

    def test_whole_numbers_are_categories_if_asked(self):
        assert metadata().factor("sessions").values().tolist() == list("13131")
        assert metadata().factor("gender").values().tolist() == list("fmfmf")

    def test_with_columns(self):
        found = metadata().with_columns(
            {"match": list("aaaab")}, segment_columns={"more": list("xyz")}
        )
        assert found.factor("match").values().tolist() == list("aaaab")
        assert found.names[-1] == "more"
        assert found.trials is KEY

    def test_representation(self):
        assert repr(metadata()) == (
            "TrialMetadata: 5 trials; match, snr by trial; gender, sessions by model; "
            "duration, noisy by segment"
        )

    def test_conditions(self):
        conditions = metadata().conditions("gender", "match", weights=[0.1, 0.2, 0.3, 0.4])
        assert conditions.names == ("m, N", "m, Y", "f, N", "f, Y")
        assert conditions.counts(KEY)["f, Y"] == (2, 0)
        assert conditions.weights.tolist() == [0.1, 0.2, 0.3, 0.4]

    def test_options_of_conditions(self):
        other = Key(["anna", "carl"], ["s1"], [[True], [False]], [[False], [True]])
        conditions = metadata().conditions("match", uncovered="ignore", lacking="ignore")
        assert conditions.with_weights([0, 1]).trial_weights(other)[1].tolist() == [0]


class TestForTrials:
    def test_values_follow_the_ids(self):
        other = Ndx(["bert", "anna"], ["s3", "s1"], [[False, True], [True, True]])
        found = metadata().for_trials(other)
        # (anna, s3), (bert, s1), (anna, s1)
        assert found.factor("match").values().tolist() == ["Y", "N", "Y"]
        assert found.column("snr").tolist() == [5, 2, 1]
        assert found.model_column("sessions").tolist() == [3, 1]
        assert found.segment_column("duration").tolist() == [0.25, 3.5]
        assert found.trials is other

    def test_same_trials_share_the_columns(self):
        found = metadata()
        assert found.for_trials(KEY.to_ndx()).column("snr") is found.column("snr")

    def test_columns_of_models_and_segments_describe_any_of_their_trials(self):
        known = TrialMetadata(KEY, None, {"gender": ["f", "m"]}, {"duration": [1.0, 2.0, 3.0]})
        every = known.for_trials(Ndx(["bert"], ["s3"]))
        assert every.column("duration").tolist() == [3.0]
        assert every.factor("gender").values().tolist() == ["m"]

    @pytest.mark.parametrize(
        ("trials", "message"),
        [
            (Ndx(["bert", "carl"], ["s2", "s3"]), r"3 trials: \(carl, s2\), \(bert, s3\), \(carl"),
            (Ndx(["anna", "carl", "dora"], ["s1"], [[True], [False], [False]]), "2 of 3 models: c"),
            (Ndx(["anna"], ["s1", "s9"], [[True, False]]), "1 of 2 segments: s9"),
        ],
    )
    def test_what_is_not_described(self, trials, message):
        with pytest.raises(TrialMismatchError, match=f"do not describe {message}"):
            metadata().for_trials(trials)

    @pytest.mark.parametrize("side", ["models", "segments"])
    def test_columns_of_one_side_alone(self, side):
        of_models = side == "models"
        known = TrialMetadata(
            KEY, None, {"sex": list("fm")} if of_models else None,
            None if of_models else {"sex": list("fmf")},
        )  # fmt: skip
        trials = Ndx(["anna", "carl"], ["s1"]) if of_models else Ndx(["anna"], ["s1", "s9"])
        with pytest.raises(TrialMismatchError, match=f"do not describe 1 of 2 {side}"):
            known.for_trials(trials)
        # Of the other side nothing need be known.
        other = Ndx(["anna"], ["s9"]) if of_models else Ndx(["carl"], ["s1"])
        assert known.for_trials(other).column("sex").values().tolist() == ["f"]

    @given(keys(1), st.integers(0, 2**31))
    def test_any_form_any_order(self, key, seed):
        """A number for each trial, found again in other orders and forms."""
        rng = np.random.default_rng(seed)
        rows, cols = rng.permutation(key.modelset.size), rng.permutation(key.segset.size)
        cells = np.ix_(rows, cols)
        number = np.arange(key.tar.size).reshape(key.tar.shape)
        known = TrialMetadata(key, {"number": number[key.trial_positions()]})
        other = Key(key.modelset[rows], key.segset[cols], key.tar[cells], key.non[cells])
        expected = number[cells][other.trial_positions()]
        for wanted in (other, other.to_ndx(), as_list(other), as_list(other.to_ndx())):
            for source in (key, as_list(key)):
                described = known.for_trials(source)
                assert described.for_trials(wanted).column("number").tolist() == expected.tolist()


class TestCopies:
    def test_equal_and_read_only(self):
        found = metadata()
        for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), metadata()):
            assert again == found
            for name in ("snr", "duration"):
                with pytest.raises(ValueError, match="read-only"):
                    again.column(name)[0] = 1
        assert found != found.with_columns({"match": list("YYYYY")})
        assert found != found.with_columns({"match": np.arange(5)})
        assert found != found.with_columns({"more": list("YYYYY")})
        assert found != 1

    def test_arrays_are_copied(self):
        values = np.arange(5.0)
        found = TrialMetadata(KEY, {"x": values})
        values[0] = 99
        assert found.column("x")[0] == 0

    def test_columns_cannot_be_added_behind_the_back(self):
        columns = {"x": np.arange(5.0)}
        found = TrialMetadata(KEY, columns)
        columns["y"] = np.arange(3.0)
        assert found.names == ("x",)


class TestFiles:
    @pytest.mark.parametrize(
        "trials", [KEY, KEY.to_ndx(), as_list(KEY), as_list(KEY.to_ndx())], ids=repr
    )
    def test_read_back_equal(self, tmp_path, trials):
        path = tmp_path / "metadata.h5"
        metadata(trials).save(path)
        found = TrialMetadata.read(path)
        assert found == metadata(trials)
        assert type(found.trials) is type(trials)
        assert found.names == metadata().names
        assert found.column("snr").dtype == np.float32
        assert found.column("sessions").dtype == np.int16
        with pytest.raises(ValueError, match="read-only"):
            found.column("snr")[0] = 1

    @given(
        key=keys(), columns=st.lists(st.one_of(names(), st.text("/. ", min_size=1)), unique=True)
    )
    def test_any_names_and_sizes(self, tmp_path_factory, key, columns):
        path = tmp_path_factory.mktemp("any") / "metadata.hdf5"
        tables = [
            {f"{kind}{name}": ["é"] * size for name in columns}
            for kind, size in (
                ("t", key.n_trials),
                ("m", key.modelset.size),
                ("s", key.segset.size),
            )
        ]
        saved = TrialMetadata(key, *tables)
        saved.save(path)
        assert TrialMetadata.read(path) == saved

    def test_equal_content_gives_equal_files(self, tmp_path):
        for name in ("a.h5", "b.h5"):
            metadata().save(tmp_path / name)
        assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()

    @pytest.mark.slow
    def test_codes_take_little_room(self, tmp_path):
        """A million trials of two categories: far less than a byte each."""
        size = 10**6
        trials = Ndx(["m"], [f"{n:07}" for n in range(size)])
        path = tmp_path / "metadata.h5"
        TrialMetadata(trials, {"x": Factor(np.arange(size) // 1000 % 2, ["a", "b"])}).save(path)
        with h5py.File(path) as file:
            stored = file["columns/trial/0/codes"].id.get_storage_size()
        assert stored < size / 50

    @pytest.mark.parametrize(
        ("damage", "message"),
        [
            (lambda f: f.attrs.__setitem__("form", np.bytes_("Scores")), "form is 'Scores', with"),
            (lambda f: f.__delitem__("trials/is_target"), "form is 'Key', without"),
            (lambda f: f.__delitem__("columns/trial/0/levels"), "0/levels. is missing"),
            (lambda f: f.__delitem__("columns/model/names"), "model/names. is missing"),
            (
                lambda f: f["columns/trial/0/codes"].__setitem__(0, 9),
                "`codes` must be positions in `levels`",
            ),
            (lambda f: f["trials/models"].__setitem__(4, 9), "`models`"),
            (
                lambda f: f["trials/models"].__setitem__(0, 1),
                "by segment, then by model, each once",
            ),
            (lambda f: f["trials/segments"].__setitem__(0, 1), "by segment, then by model"),
            (
                lambda f: (
                    f.__delitem__("trials/is_target"),
                    f.create_dataset("trials/is_target", data=[1]),
                ),
                "is_target. has shape",
            ),
            (
                lambda f: (
                    f.__delitem__("columns/segment/0/values"),
                    f.create_dataset("columns/segment/0/values", data=[1.0]),
                ),
                "0/values. has shape",
            ),
            (
                lambda f: f["columns/trial/names"].__setitem__(1, f["columns/trial/names"][0]),
                "a name that was before",
            ),
            (
                lambda f: (
                    f.__delitem__("columns/trial/0"),
                    f.__setitem__("columns/trial/0", h5py.ExternalLink("other.h5", "/x")),
                ),
                "external link",
            ),
        ],
    )
    def test_damaged_files(self, tmp_path, damage, message):
        path = tmp_path / "metadata.h5"
        metadata().save(path)
        with h5py.File(path, "r+") as file:
            # Without checksums, which would find any other change.
            names = []
            file.visit(names.append)
            for name in names:
                file[name].attrs.pop("checksums", None)
            damage(file)
        with pytest.raises(FileFormatError, match=message) as caught:
            TrialMetadata.read(path)
        assert str(path) in str(caught.value)

    def test_files_of_another_kind(self, tmp_path):
        path = tmp_path / "a.h5"
        KEY.save(path)
        with pytest.raises(FileFormatError, match="expected TrialMetadata; the file holds Key"):
            TrialMetadata.read(path)
        metadata().save(path)
        with pytest.raises(FileFormatError, match="expected Key; the file holds TrialMetadata"):
            Key.read(path)

    def test_too_large(self, tmp_path):
        metadata().save(tmp_path / "a.h5")
        with pytest.raises(FileFormatError, match="max_bytes"):
            TrialMetadata.read(tmp_path / "a.h5", max_bytes=10)

    def test_extension(self, tmp_path):
        with pytest.raises(InvalidInputError, match=r"end in \.h5 or \.hdf5; got"):
            metadata().save(tmp_path / "a.txt")
        with pytest.raises(InvalidInputError, match=r"end in \.h5 or \.hdf5; got"):
            TrialMetadata.read(tmp_path / "a.mat")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TrialMetadata(["a"]), "be an Ndx"),
        (lambda: TrialMetadata(KEY, ["a"]), "`trial_columns` .* map names to columns"),
        (lambda: TrialMetadata(KEY, {"a": "abcde"}), "be a list of values; got 'abcde'"),
        (lambda: TrialMetadata(KEY, {1: "abcde"}), "be named by text; got 1"),
        (lambda: TrialMetadata(KEY, {"": "abcde"}), "be named by text"),
        (
            lambda: TrialMetadata(KEY, {"a": list("abc")}),
            r"`trial_columns\['a'\]` .* one value for each of the 5 trials; got 3",
        ),
        (lambda: TrialMetadata(KEY, None, {"a": list("abc")}), "each of the 2 models; got 3"),
        (lambda: TrialMetadata(KEY, None, None, {"a": ["a"]}), "each of the 3 segments; got 1"),
        (lambda: TrialMetadata(KEY, {"a": np.zeros((5, 1))}), "be one-dimensional"),
        (
            lambda: TrialMetadata(KEY, None, {"a": np.ma.array([1, 2], mask=[False, True])}),
            "have a value for each item; got 1 masked values",
        ),
        (
            lambda: Conditions.from_labels(
                KEY, np.ma.array(list("ababa"), mask=[True] * 5), order="columns"
            ),
            "have a value for each item; got 5 masked values",
        ),
        (
            lambda: TrialMetadata(KEY, {"a": ["x", None, "x", "x", "x"]}),
            "category for each item; got None",
        ),
        (
            lambda: TrialMetadata(KEY, {"a": list("abcde")}, {"a": list("ab")}),
            "different names; got 'a' more than once",
        ),
        (lambda: metadata().column("sex"), r"be a column \(match, snr, .*\); got 'sex'"),
        (
            lambda: metadata().factor("snr"),
            "name categories; got .* in column 'snr'.* with_columns",
        ),
        (lambda: metadata().model_column("match"), r"be a column \(gender, sessions\)"),
        (lambda: TrialMetadata(KEY).segment_column("a"), "there is none"),
        (lambda: TrialMetadata(KEY).column("a"), r"got 'a'. Columns come from a key file"),
        (lambda: metadata().conditions(), r"name at least one column \(match, snr"),
        (lambda: metadata().conditions("gender", "sex"), "got 'sex'"),
        (lambda: metadata().for_trials("abc"), "be an Ndx"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


def test_masked_arrays_without_masked_values_are_plain_ones():
    metadata = TrialMetadata(KEY, None, {"a": np.ma.array([1, 2])})
    assert type(metadata.model_column("a")) is np.ndarray
    assert metadata == TrialMetadata(KEY, None, {"a": [1, 2]})
