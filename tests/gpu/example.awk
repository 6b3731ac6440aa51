# The program in the README that uses generated code as it is.
/^So this is a whole program/ { announced = 1 }
inside && /^```$/ { exit }
inside { print }
announced && /^```cpp$/ { inside = 1 }
