// An OOM kill belongs to the exit that it causes, in whichever order the engine announces the two.

import { expect, test } from 'vitest'
import { createExitNotes } from './exit-notes.ts'

function notes() {
  let now = 0
  const created = createExitNotes(() => now)
  const pass = (ms: number): void => {
    now += ms
  }
  return { ...created, pass }
}

test('an OOM kill before the exit belongs to this exit and not to the next one', () => {
  const { noteOom, noteExit, of } = notes()
  noteOom('c')
  noteExit('c', 137)
  expect(of('c')).toMatchObject({ code: 137, oomKilled: true })
  noteExit('c', 1)
  expect(of('c')).toMatchObject({ code: 1, oomKilled: false })
})

test('an OOM kill announced shortly after the exit belongs to it, a later one to the next exit', () => {
  const { noteOom, noteExit, of, pass } = notes()
  noteExit('c', 137)
  noteOom('c')
  expect(of('c')).toMatchObject({ oomKilled: true })
  noteExit('c', 1)
  pass(2000)
  noteOom('c')
  expect(of('c')).toMatchObject({ code: 1, oomKilled: false })
  noteExit('c', 137)
  expect(of('c')).toMatchObject({ oomKilled: true })
})

test('containers have notes of their own, which a removed container loses', () => {
  const { noteOom, noteExit, of, forget } = notes()
  noteOom('a')
  noteExit('b', 2)
  forget('b')
  expect(of('b')).toBeUndefined()
  noteExit('a', 137)
  expect(of('a')).toMatchObject({ oomKilled: true })
})
