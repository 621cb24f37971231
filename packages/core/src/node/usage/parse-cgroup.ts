// Parses the files from which the kernel's accounting of a container is read, for cgroup v1 and v2.
// See docs/design/usage.md#reading

/** The folders of a container below the cgroup mount. */
export interface CgroupFolders {
  readonly version: 1 | 2
  readonly cpu: string
  readonly cpuacct: string
  readonly memory: string
  readonly pids: string
}

/**
 * Finds the folders in `/proc/<pid>/cgroup`. Undefined unless each of them names the container: the engine's process id may
 * belong to another process by now.
 */
export function cgroupFolders(text: string, containerId: string): CgroupFolders | undefined {
  const paths = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    if (controllers === undefined || path === undefined || !path.includes(containerId)) continue
    for (const controller of controllers.split(',')) paths.set(controller, path)
  }
  const of = (controller: string): string | undefined => {
    const path = paths.get(controller)
    return path === undefined ? undefined : `${controller}${path}`
  }
  const [cpu, cpuacct, memory, pids] = [of('cpu'), of('cpuacct'), of('memory'), of('pids')]
  if (cpu !== undefined && cpuacct !== undefined && memory !== undefined && pids !== undefined)
    return { version: 1, cpu, cpuacct, memory, pids }
  const unified = paths.get('')
  // A machine with v1 controllers has a v2 hierarchy without controllers beside them.
  if (unified === undefined || memory !== undefined) return undefined
  const folder = unified.slice(1)
  return { version: 2, cpu: folder, cpuacct: folder, memory: folder, pids: folder }
}

/** A file with one whole number. Undefined for any other text, such as `max`. */
export function parseCount(text: string): number | undefined {
  const trimmed = text.trim()
  return /^\d{1,19}$/.test(trimmed) ? Number(trimmed) : undefined
}

/** One value of a file with lines such as `inactive_file 4096`. */
export function parseStat(text: string, name: string): number | undefined {
  const start = `${name} `
  const line = text.split('\n').find((each) => each.startsWith(start))
  return line === undefined ? undefined : parseCount(line.slice(start.length))
}

/** Memory without the page cache that the kernel can drop at once, as `docker stats` prints it. */
export function memoryInUse(version: 1 | 2, usage: string, stat: string): number | undefined {
  const used = parseCount(usage)
  const inactive = parseStat(stat, version === 1 ? 'total_inactive_file' : 'inactive_file')
  if (used === undefined) return undefined
  // The two files are read one after the other, so the cache may be larger than the sum that was read first.
  return inactive === undefined || inactive > used ? used : used - inactive
}

/** Bytes received and sent by all interfaces but the loopback, from `/proc/<pid>/net/dev`. */
export function parseNetwork(text: string): { readonly rx: number; readonly tx: number } | undefined {
  let found: { rx: number; tx: number } | undefined
  for (const line of text.split('\n')) {
    const [, name, values = ''] = /^\s*([^\s:]+):\s*(.*)$/.exec(line) ?? []
    if (name === undefined || name === 'lo') continue
    const numbers = values.trim().split(/\s+/).map(Number)
    const [rx = Number.NaN, tx = Number.NaN] = [numbers[0], numbers[8]]
    if (!Number.isFinite(rx) || !Number.isFinite(tx)) return undefined
    found = { rx: (found?.rx ?? 0) + rx, tx: (found?.tx ?? 0) + tx }
  }
  return found
}
