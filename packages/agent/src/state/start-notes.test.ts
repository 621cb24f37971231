import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asAssignmentId } from '@holdfast/contract'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openStartNotes } from './start-notes.ts'

const log = pino({ enabled: false })
const [FIRST, SECOND] = [asAssignmentId('rep_1'), asAssignmentId('rep_2')]
const folderOf = (): Promise<string> => mkdtemp(join(tmpdir(), 'start-notes-'))

test('a note outlasts the agent until it is forgotten', async () => {
  const folder = await folderOf()
  const notes = await openStartNotes(folder, log)
  expect(notes.has(FIRST)).toBe(false)
  await Promise.all([notes.note(FIRST), notes.note(SECOND)])
  const again = await openStartNotes(folder, log)
  expect([again.has(FIRST), again.has(SECOND)]).toEqual([true, true])
  await again.forget(FIRST)
  expect((await openStartNotes(folder, log)).has(FIRST)).toBe(false)
})

test('notes of assignments that are no longer desired are dropped', async () => {
  const folder = await folderOf()
  const notes = await openStartNotes(folder, log)
  await notes.note(FIRST)
  await notes.note(SECOND)
  notes.keepOnly(new Set([SECOND]))
  await notes.note(SECOND)
  const again = await openStartNotes(folder, log)
  expect([again.has(FIRST), again.has(SECOND)]).toEqual([false, true])
})

test('an unreadable file is an error, because a job might run twice without it', async () => {
  const folder = await folderOf()
  await writeFile(join(folder, 'started-jobs.json'), '{')
  await expect(openStartNotes(folder, log)).rejects.toThrow()
})

test('a note that cannot be written is an error', async () => {
  const notes = await openStartNotes('/nowhere', log)
  await expect(notes.note(FIRST)).rejects.toThrow()
})
