import { describe, expect, test } from 'vitest'
import { cgroupFolders, memoryInUse, parseCount, parseNetwork, parseStat } from './parse-cgroup.ts'
import { parseBusyTicks, parseLoadMillis, parseMemoryInUse } from './parse-machine.ts'
import { sampleBetween } from './usage-rates.ts'

const ID = 'a'.repeat(64)

describe('the cgroup of a container', () => {
  test('is found in separate hierarchies of v1', () => {
    const text = ['9:pids', '5:memory', '3:cpuacct', '2:cpu'].map((line) => `${line}:/docker/${ID}`)
    expect(cgroupFolders([...text, `0::/docker/${ID}`].join('\n'), ID)).toEqual({
      version: 1,
      cpu: `cpu/docker/${ID}`,
      cpuacct: `cpuacct/docker/${ID}`,
      memory: `memory/docker/${ID}`,
      pids: `pids/docker/${ID}`,
    })
  })

  test('is found in hierarchies of v1 that hold several controllers', () => {
    const text = `4:cpu,cpuacct:/docker/${ID}\n5:memory:/docker/${ID}\n9:pids:/docker/${ID}\n`
    expect(cgroupFolders(text, ID)).toMatchObject({ version: 1, cpuacct: `cpuacct/docker/${ID}` })
  })

  test('is found in the only hierarchy of v2', () => {
    const folder = `system.slice/docker-${ID}.scope`
    expect(cgroupFolders(`0::/${folder}\n`, ID)).toMatchObject({ version: 2, cpu: folder, memory: folder })
  })

  test('is unknown if the process belongs to another container', () => {
    expect(cgroupFolders(`0::/docker/${'b'.repeat(64)}\n`, ID)).toBeUndefined()
    expect(cgroupFolders('', ID)).toBeUndefined()
  })

  test('is unknown if a controller of v1 is missing', () => {
    expect(cgroupFolders(`5:memory:/docker/${ID}\n0::/docker/${ID}\n`, ID)).toBeUndefined()
  })
})

test.each([
  ['12345\n', 12_345],
  ['0', 0],
  ['max\n', undefined],
  ['', undefined],
  ['-1', undefined],
])('reads the count %j as %j', (text, expected) => expect(parseCount(text)).toBe(expected))

test('reads one value of a stat file by its whole name', () => {
  const text = 'total_inactive_file 8\ninactive_file 4\nnr_throttled 3\n'
  expect([parseStat(text, 'inactive_file'), parseStat(text, 'nr_throttled')]).toEqual([4, 3])
  expect(parseStat(text, 'throttled')).toBeUndefined()
})

test.each([
  [1, '1000', 'inactive_file 1\ntotal_inactive_file 300\n', 700],
  [2, '1000', 'inactive_file 300\n', 700],
  [2, '1000', 'anon 4\n', 1000],
  // The cache grew between the two reads.
  [2, '1000', 'inactive_file 1500\n', 1000],
  [2, 'x', 'inactive_file 300\n', undefined],
] as const)('memory of cgroup v%i with usage %s and %j is %j', (version, usage, stat, expected) =>
  expect(memoryInUse(version, usage, stat)).toBe(expected),
)

describe('network counters', () => {
  const head = 'Inter-|   Receive\n face |bytes    packets\n'
  const line = (name: string, rx: number, tx: number) =>
    `  ${name}: ${rx} 1 0 0 0 0 0 0 ${tx} 1 0 0 0 0 0 0\n`

  test('are summed over all interfaces but the loopback', () => {
    const text = head + line('lo', 5, 5) + line('eth0', 100, 10) + line('eth1', 1, 2)
    expect(parseNetwork(text)).toEqual({ rx: 101, tx: 12 })
  })

  test('are unknown without an interface or with a broken line', () => {
    expect(parseNetwork(head + line('lo', 5, 5))).toBeUndefined()
    expect(parseNetwork(`${head}eth0: 1 2\n`)).toBeUndefined()
  })
})

test('reads the usage of the machine', () => {
  expect(parseBusyTicks('cpu  10 1 20 1000 50 2 3 4 9 9\ncpu0 1 1 1 1\n')).toBe(40)
  expect(parseBusyTicks('intr 5\n')).toBeUndefined()
  expect(parseMemoryInUse('MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:   400 kB\n')).toBe(600 * 1024)
  expect(parseMemoryInUse('MemTotal:  1000 kB\n')).toBeUndefined()
  expect(parseLoadMillis('1.25 0.50 0.10 1/200 4711\n')).toBe(1250)
  expect(parseLoadMillis('')).toBeUndefined()
})

describe('a sample', () => {
  const before = { cpuNanos: 1_000_000_000, memoryBytes: 10, periods: 100, throttled: 10, rx: 1000, tx: 50 }

  test('has rates since the reading before', () => {
    const after = {
      cpuNanos: 6_000_000_000,
      memoryBytes: 20,
      periods: 200,
      throttled: 35,
      rx: 21_000,
      tx: 50,
    }
    expect(sampleBetween(before, { ...after, pids: 3 }, 10_000)).toEqual({
      cpuMillis: 500,
      memoryBytes: 20,
      rx: 2000,
      tx: 0,
      throttledPercent: 25,
      pids: 3,
    })
  })

  test('has no rates without a reading before, nor after a restart', () => {
    expect(sampleBetween(undefined, before, 10_000)).toEqual({ memoryBytes: 10 })
    const restarted = { cpuNanos: 5, memoryBytes: 7, periods: 1, throttled: 0, rx: 1, tx: 1 }
    expect(sampleBetween(before, restarted, 10_000)).toEqual({ memoryBytes: 7 })
  })

  test('has no throttling without passed periods', () => {
    expect(sampleBetween(before, { ...before, cpuNanos: 2e9 }, 1000)).toMatchObject({
      cpuMillis: 1000,
      throttledPercent: 0,
    })
  })
})
