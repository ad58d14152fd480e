# end to end
