// Measures the rate of a function by the CPU time of its thread, which other load does not change, and each call by time.

export interface Slice {
  readonly perSecond: number
  readonly micros: readonly number[]
}

const HANDFUL = 16

export function measureThread(
  milliseconds: number,
  act: (index: number) => void,
  beside: (index: number) => void = () => {},
): Slice {
  const micros: number[] = []
  let spent = 0
  for (let handful = 0; spent < milliseconds * 1000; handful += 1) {
    beside(handful)
    const before = process.threadCpuUsage()
    for (let index = handful * HANDFUL; index < (handful + 1) * HANDFUL; index += 1) {
      const began = process.hrtime.bigint()
      act(index)
      micros.push(Number(process.hrtime.bigint() - began) / 1000)
    }
    const { user, system } = process.threadCpuUsage(before)
    spent += user + system
  }
  return { perSecond: (micros.length * 1_000_000) / spent, micros }
}
