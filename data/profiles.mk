# filled by the profiles
