import { expect, test } from 'vitest'
import { createRandom } from './random.ts'
import { installVirtualTime, newProcess, newWallClock, stepWall, type VirtualTime } from './virtual-time.ts'

const STARTED_AT = Date.UTC(2026, 0, 1)
const never = () => false

/** The lines that `work` logs until the given virtual time, in order. */
async function order(
  untilMs: number,
  work: (say: (text: string) => void, time: VirtualTime) => void,
): Promise<string[]> {
  const time = installVirtualTime(STARTED_AT, createRandom(1, 'test'))
  const log: string[] = []
  try {
    work((text) => log.push(text), time)
    await time.runUntil(untilMs, never)
  } finally {
    time.uninstall()
  }
  return log
}

test('runs timers in order of time, and equal times in order of planning', async () => {
  const log = await order(20, (say) => {
    setTimeout(() => say('late'), 10)
    setTimeout(() => say('first at 5'), 5)
    setTimeout(() => say('second at 5'), 5)
    setTimeout(() => say('at once is 1'), 0)
  })
  expect(log).toEqual(['at once is 1', 'first at 5', 'second at 5', 'late'])
})

test('runs an immediate before every later timer, even one of the same moment', async () => {
  const log = await order(5, (say) => {
    setTimeout(() => {
      say('timer')
      setImmediate(() => {
        say('immediate')
        setImmediate(() => say('immediate of it'))
      })
    }, 3)
    setTimeout(() => say('other timer of the moment'), 3)
  })
  expect(log).toEqual(['timer', 'immediate', 'immediate of it', 'other timer of the moment'])
})

test('settles all promises of an event before the next event', async () => {
  const log = await order(5, (say) => {
    const chain = async (name: string) => {
      for (let link = 0; link < 50; link += 1) await undefined
      say(name)
    }
    setTimeout(() => void chain('first'), 1)
    setTimeout(() => say('second'), 1)
  })
  expect(log).toEqual(['first', 'second'])
})

test('stops clocks between events and moves them with events', async () => {
  const log = await order(100_000, (say) => {
    const now = () => `${performance.now()} ${Date.now() - STARTED_AT}`
    say(now())
    setTimeout(() => say(now()), 90_000)
  })
  expect(log).toEqual(['0 0', '90000 90000'])
})

test('shows a process the wall clock of its host, wrong until the end of its last step, and moves nothing else', async () => {
  const log = await order(100, (say, time) => {
    const wall = newWallClock()
    const off = () => Date.now() - STARTED_AT - performance.now()
    time.runAs(newProcess('one', wall), () =>
      setInterval(() => say(`one at ${performance.now()}: ${off()}`), 10),
    )
    time.runAs(newProcess('two'), () => setTimeout(() => say(`two: ${off()}`), 25))
    setTimeout(() => stepWall(time, wall, -600_000, 20), 15)
    setTimeout(() => stepWall(time, wall, 5_000, 20), 25)
  })
  const ticks = ['10: 0', '20: -600000', '30: 5000', '40: 5000', '50: 0']
  expect(log.filter((line) => line.startsWith('one')).slice(0, 5)).toEqual(
    ticks.map((tick) => `one at ${tick}`),
  )
  expect(log).toContain('two: 0')
})

test('repeats an interval until it is cleared, and never runs a cleared timer', async () => {
  const log = await order(100, (say) => {
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
      say(`turn ${turns} at ${performance.now()}`)
      if (turns === 3) clearInterval(timer)
    }, 10)
    clearTimeout(setTimeout(() => say('never'), 5))
    clearImmediate(setImmediate(() => say('never')))
    clearTimeout(undefined)
  })
  expect(log).toEqual(['turn 1 at 10', 'turn 2 at 20', 'turn 3 at 30'])
})

test('drops the timers of a dead process, and the timers that those would have planned', async () => {
  const log = await order(100, (say, time) => {
    const process = newProcess('one')
    time.runAs(process, () => {
      setInterval(() => say('alive'), 10)
      setTimeout(() => setTimeout(() => say('inner'), 20), 10)
    })
    setTimeout(() => {
      process.alive = false
    }, 25)
  })
  expect(log).toEqual(['alive', 'alive'])
})

test('delivers everything that a paused process missed, in order, and shows it the real delay', async () => {
  const log = await order(100, (say, time) => {
    const process = newProcess('one')
    time.runAs(process, () => {
      setTimeout(() => say(`first at ${performance.now()}`), 10)
      setTimeout(() => say('second'), 20)
    })
    time.pause(process)
    setTimeout(() => time.deliver(process, () => say('delivered')), 30)
    setTimeout(() => time.resume(process), 50)
  })
  expect(log).toEqual(['first at 50', 'second', 'delivered'])
})

test('takes randomness from the seed', async () => {
  const draw = async (seed: number) => {
    const time = installVirtualTime(STARTED_AT, createRandom(seed, 'test'))
    const drawn = [Math.random(), Math.random()]
    time.uninstall()
    return drawn
  }
  expect(await draw(1)).toEqual(await draw(1))
  expect(await draw(1)).not.toEqual(await draw(2))
})

test('ends the run with the error of an event, and restores the real globals', async () => {
  const real = globalThis.setTimeout
  await expect(
    order(5, () =>
      setTimeout(() => {
        throw new Error('broken')
      }, 1),
    ),
  ).rejects.toThrow('broken')
  expect(globalThis.setTimeout).toBe(real)
  expect(Object.hasOwn(performance, 'now')).toBe(false)
  expect(Math.abs(Date.now() - STARTED_AT)).toBeGreaterThan(0)
})

test('reports an endless loop of immediates instead of running forever', async () => {
  const circle = (): void => {
    setImmediate(circle)
  }
  await expect(order(5, circle)).rejects.toThrow('time does not move on')
})

test('allows one virtual time per process', async () => {
  await expect(order(5, () => installVirtualTime(0, createRandom(1, 'other')))).rejects.toThrow('already')
})
