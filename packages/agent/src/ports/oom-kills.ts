// OOM kills by the kernel. The engine learns of a kill from the container's cgroup, and misses it if the process dies
// before the engine watches that cgroup.

export interface OomKills {
  /** Whether the kernel OOM-killed a process of the container since the last call for this container. */
  take(containerId: string): boolean
}
