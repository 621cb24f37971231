// Parses the files from which the usage of the whole machine is read.

/** Time that all CPUs of the machine spent working, in clock ticks, from `/proc/stat`. Waiting for a disk is no work. */
export function parseBusyTicks(text: string): number | undefined {
  const [, values] = /^cpu +(.*)$/m.exec(text) ?? []
  const ticks = values?.trim().split(/\s+/).map(Number) ?? []
  const [user = Number.NaN, nice = 0, system = 0, _idle = 0, _wait = 0, irq = 0, softirq = 0, steal = 0] =
    ticks
  // The time of guests is part of user and nice.
  const busy = user + nice + system + irq + softirq + steal
  return Number.isFinite(busy) ? busy : undefined
}

/** Memory that programs cannot get without swapping, from `/proc/meminfo`. */
export function parseMemoryInUse(text: string): number | undefined {
  const [, total] = /^MemTotal:\s+(\d+) kB$/m.exec(text) ?? []
  const [, available] = /^MemAvailable:\s+(\d+) kB$/m.exec(text) ?? []
  if (total === undefined || available === undefined) return undefined
  return Math.max(0, Number(total) - Number(available)) * 1024
}

/** The load average of the last minute in thousandths, from `/proc/loadavg`. */
export function parseLoadMillis(text: string): number | undefined {
  const [, load] = /^(\d+\.\d+) /.exec(text) ?? []
  return load === undefined ? undefined : Math.round(Number(load) * 1000)
}
