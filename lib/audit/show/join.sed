# Lines of text as one C string literal, without their ends.
s/["\]/\\&/g
s/.*/"&"/
