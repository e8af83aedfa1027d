"""Files to plain arrays and back; nothing here knows the classes of trials.

`hdf5` and `mat` read and write the kinds of objects that `hdf5` lists: a reader returns read-only
arrays by the names of the constructor's arguments, a writer takes them by the same names. `text`
reads the text formats of the field, which `formats` lists; `writing` writes them, and has the text
files of the MATLAB toolkit both ways. `columns` has columns of categories, the words of labels, and
the order of trials in lists. `models` has trained maps as JSON. `replacing` puts a new file in
place of an old one in one step.
"""
