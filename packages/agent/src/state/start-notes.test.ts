import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
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
  await Promise.all([notes.note(FIRST, 'c-1'), notes.note(SECOND, 'c-2')])
  const again = await openStartNotes(folder, log)
  expect([again.has(FIRST), again.has(SECOND)]).toEqual([true, true])
  expect(again.containerOf(SECOND)).toBe('c-2')
  await again.forget(FIRST)
  expect((await openStartNotes(folder, log)).has(FIRST)).toBe(false)
})

test('notes of assignments that are no longer desired are dropped', async () => {
  const folder = await folderOf()
  const notes = await openStartNotes(folder, log)
  await notes.note(FIRST, 'c-1')
  await notes.note(SECOND, 'c-2')
  notes.applySet(1, new Set([SECOND]))
  await notes.note(SECOND, 'c-2')
  const again = await openStartNotes(folder, log)
  expect([again.has(FIRST), again.has(SECOND)]).toEqual([false, true])
})

test('a complete set that is older than the note drops nothing, also after a restart of the agent', async () => {
  const folder = await folderOf()
  const first = await openStartNotes(folder, log)
  first.applySet(7)
  await first.note(FIRST, 'c-1')
  first.applySet(6, new Set())
  expect(first.has(FIRST)).toBe(true)
  const again = await openStartNotes(folder, log)
  again.applySet(6, new Set())
  expect(again.has(FIRST)).toBe(true)
  again.applySet(7, new Set())
  expect(again.has(FIRST)).toBe(false)
})

test('only the first container of an assignment may start, and again if its start was not tried', async () => {
  const notes = await openStartNotes(await folderOf(), log)
  expect(await notes.note(FIRST, 'c-1')).toBe(true)
  expect(await notes.note(FIRST, 'c-1')).toBe(true)
  expect(await notes.note(FIRST, 'c-2')).toBe(false)
  expect(notes.containerOf(FIRST)).toBe('c-1')
})

test('reads the notes of an older agent, which have no container, and writes what it can read', async () => {
  const folder = await folderOf()
  const path = join(folder, 'started-jobs.json')
  await writeFile(path, JSON.stringify({ started: [FIRST] }))
  const notes = await openStartNotes(folder, log)
  expect([notes.has(FIRST), notes.containerOf(FIRST)]).toEqual([true, undefined])
  await notes.note(SECOND, 'c-2')
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ started: [FIRST, SECOND] })
  const again = await openStartNotes(folder, log)
  expect([again.has(FIRST), again.containerOf(SECOND)]).toEqual([true, 'c-2'])
})

test('an unreadable file is an error, because a job might run twice without it', async () => {
  const folder = await folderOf()
  await writeFile(join(folder, 'started-jobs.json'), '{')
  await expect(openStartNotes(folder, log)).rejects.toThrow()
})

test('a note that cannot be written is an error', async () => {
  const notes = await openStartNotes('/nowhere', log)
  await expect(notes.note(FIRST, 'c-1')).rejects.toThrow()
})
