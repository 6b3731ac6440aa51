// The generated kernels around a functor of one's own. Compiled, and linked; running it needs a GPU.
#include "points_kernels.cuh"

struct Halve {
    __device__ void operator()(points::scale_step &step) const
    {
        step.points_mass *= 0.5f;
    }
};

int main()
{
    points::points_view view{nullptr};
    return points::launch_scale(view, Halve{}) == cudaSuccess ? 0 : 1;
}
