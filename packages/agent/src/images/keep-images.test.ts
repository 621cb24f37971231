import pino from 'pino'
import { expect, test } from 'vitest'
import { createImageKeeper } from './keep-images.ts'

/** A keeper with the images of an engine, and a registry from which only some can be pulled. */
function start(present: string[], pullable: readonly string[]) {
  const pulled: string[] = []
  const logged: string[] = []
  const keeper = createImageKeeper({
    engine: { hasImage: async (image) => present.includes(image) },
    requisites: {
      async ensureImage(image) {
        pulled.push(image)
        if (!pullable.includes(image)) throw new Error('no such image')
        present.push(image)
      },
      forget() {},
    },
    log: pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }),
  })
  return { keeper, pulled, logged }
}

test('pulls the images that are missing, one after another, and each failure is logged once', async () => {
  const { keeper, pulled, logged } = start(['here'], ['there'])
  keeper.keep(['here', 'gone', 'there', 'gone'])
  await expect.poll(() => pulled).toEqual(['gone', 'there'])
  keeper.keep(['gone', 'here'])
  await expect.poll(() => pulled).toEqual(['gone', 'there', 'gone'])
  expect(logged).toHaveLength(1)
  keeper.close()
})
