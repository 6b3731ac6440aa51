// The generated header in a program without CUDA.
#include <cstdio>
#include <vector>

#include "points.cuh"

int main()
{
    points::points_view sized{nullptr};
    std::vector<double> memory(sized.bytes() / sizeof(double) + 1);
    points::points_view view{reinterpret_cast<decltype(sized.base)>(memory.data())};
    view.mass(3) = 2.5f;
    std::printf("%g in %zu bytes\n", double(view.mass(3)), std::size_t(view.bytes()));
    return view.mass(3) == 2.5f ? 0 : 1;
}
