import { expect, test } from 'vitest'
import { limitOutput } from './limit-output.ts'

test('output that does not fit is skipped and reported once there is room', () => {
  const drawn: number[] = []
  const skipped: number[] = []
  const waiting: (() => void)[] = []
  const write = limitOutput(10, {
    draw(bytes, done) {
      drawn.push(bytes.length)
      waiting.push(done)
    },
    onSkipped: (bytes) => skipped.push(bytes),
  })
  for (const size of [6, 4, 3, 2]) write(new Uint8Array(size))
  expect([drawn, skipped]).toEqual([[6, 4], []])
  for (const done of waiting.splice(0)) done()
  write(new Uint8Array(1))
  expect([drawn, skipped]).toEqual([[6, 4, 1], [5]])
})
