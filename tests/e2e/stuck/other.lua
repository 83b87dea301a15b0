-- Has a finding of its own, which must be told beside the stuck one.
return 7
