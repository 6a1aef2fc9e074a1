# Lines of text as a C string literal.
s/["\]/\\&/g
s/.*/"&\\n"/
