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

test('an OOM kill that is announced again after its exit does not belong to the next exit', () => {
  const { noteOom, noteStart, noteExit, of } = notes()
  noteOom('c')
  noteExit('c', 137)
  noteOom('c')
  noteStart('c')
  noteExit('c', 1)
  expect(of('c')).toMatchObject({ code: 1, oomKilled: false })
  noteStart('c')
  noteOom('c')
  noteExit('c', 137)
  expect(of('c')).toMatchObject({ code: 137, oomKilled: true })
})

test('an OOM kill in the log of the kernel belongs to its exit, however the engine announces it', () => {
  const { noteOom, noteStart, noteExit, of } = notes()
  noteExit('c', 1, false)
  noteStart('c')
  noteExit('c', 137, true)
  expect(of('c')).toMatchObject({ code: 137, oomKilled: true })
  expect(noteOom('c')).toBe(false)
  noteStart('c')
  noteExit('c', 137, false)
  expect(of('c')).toMatchObject({ oomKilled: false })
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
