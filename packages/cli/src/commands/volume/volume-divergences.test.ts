// Commands about the data that former primaries keep, against scripted API responses and a real file system.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@holdfast/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { aVolume, ME, TENANT } from '../../resources/volume.fixture.ts'
import { invocation, scriptClient, scriptTerminal } from '../../terminal/scripted-terminal.fixture.ts'
import { volumeDivergences } from './volume-divergences.ts'
import { volumeDivergencesDelete } from './volume-divergences-delete.ts'
import { volumeDivergencesDownload } from './volume-divergences-download.ts'

const volume = aVolume()
const KEPT = {
  epoch: 1,
  nodeId: 'node_1',
  nodeName: 'n1',
  bytes: 12 * 1024 ** 2,
  keptSince: '2026-01-31T11:00:00.000Z',
  keptUntil: '2026-02-07T11:00:00.000Z',
  unavailable: null,
}
const AWAY = { reason: 'node_unreachable', message: 'Node n2 sends no heartbeats.' }
const BEFORE = { 'GET /me': ME, 'GET /dvm/volumes?limit=500': { items: [volume], nextCursor: null } }
const PATH = `/tenants/${TENANT}/volumes/${volume.id}/divergences`

async function list(items: readonly object[], unobserved: readonly object[], typed = {}) {
  const terminal = scriptTerminal()
  const client = scriptClient({
    ...BEFORE,
    [`GET ${PATH}?limit=500`]: { items, unobserved, nextCursor: null },
  })
  expect(await volumeDivergences.run(invocation(terminal, ['data'], typed), client)).toBe(0)
  return terminal.printed
}

describe('volume divergences', () => {
  test('lists what is kept, for how long, and why it may not be available', async () => {
    const { out } = await list([KEPT, { ...KEPT, epoch: 0, bytes: null, unavailable: AWAY }], [])
    expect(out).toMatch(/^1 +n1 +12MiB +1h +2026-02-07T11:00:00Z +yes$/m)
    expect(out).toMatch(/^0 +n1 +unknown +1h +2026-02-07T11:00:00Z +no: Node n2 sends no heartbeats\.$/m)
  })

  test('tells no data from data that could not be observed', async () => {
    expect(await list([], [])).toEqual({ out: '', err: 'no divergences\n' })
    const unobserved = [{ nodeId: 'node_2', nodeName: 'n2', ...AWAY }]
    expect(await list([], unobserved)).toEqual({
      out: '',
      err: 'not observed: Node n2 sends no heartbeats.\n',
    })
    const { out } = await list([KEPT], unobserved, { output: 'json' })
    expect(JSON.parse(out)).toEqual({ items: [KEPT], unobserved })
  })
})

describe('volume divergences download', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'archive-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** Downloads a body of these parts; an error breaks the connection. */
  async function download(
    parts: readonly (Uint8Array | Error)[],
    typed: object = { to: join(folder, 'x.tar') },
  ) {
    const terminal = scriptTerminal()
    const json = (body: unknown) =>
      new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } })
    const client = createClient({
      baseUrl: 'http://platform',
      runtime: {
        async fetch(url) {
          const path = url.replace('http://platform/api/v1', '')
          if (path === '/me') return json(ME)
          if (path.startsWith('/dvm/volumes')) return json({ items: [volume], nextCursor: null })
          expect(path).toBe(`${PATH}/1`)
          return new Response(bodyOf(parts), { headers: { 'content-type': 'application/x-tar' } })
        },
      },
    })
    const code = await volumeDivergencesDownload.run(
      invocation(terminal, ['data', '1'], { ...typed }),
      client,
    )
    return { code, ...terminal.printed }
  }

  function bodyOf(parts: readonly (Uint8Array | Error)[]): ReadableStream<Uint8Array> {
    const left = [...parts]
    return new ReadableStream({
      pull(controller) {
        const next = left.shift()
        if (next === undefined) controller.close()
        else if (next instanceof Error) controller.error(next)
        else controller.enqueue(next)
      },
    })
  }
  const data = Buffer.from('data')
  const end = Buffer.alloc(1024)

  test('writes the whole archive and leaves nothing else', async () => {
    const { code, out } = await download([data, end.subarray(0, 700), end.subarray(700)])
    expect([code, out]).toEqual([0, `volume/data: 1.0KiB of epoch 1 written to ${join(folder, 'x.tar')}\n`])
    expect(readFileSync(join(folder, 'x.tar'))).toEqual(Buffer.concat([data, end]))
    expect(readdirSync(folder)).toEqual(['x.tar'])
  })

  test.each([
    ['that breaks', [data, new Error('reset')], 'the download broke'],
    ['that breaks after its end mark', [data, end, new Error('reset')], 'the download broke'],
    ['without an end mark', [data, end.subarray(1)], 'the archive has no end'],
    ['whose zeros are not at its end', [end, data], 'the archive has no end'],
    ['without bytes', [], 'the archive has no end'],
  ] as const)('leaves no file of an archive %s', async (_name, parts, why) => {
    const { code, err } = await download(parts)
    expect(code).toBe(1)
    expect(err).toContain(why)
    expect(readdirSync(folder)).toEqual([])
  })

  test('does not overwrite a file, and needs a name for it', async () => {
    writeFileSync(join(folder, 'x.tar'), 'mine')
    const { code, err } = await download([data, end])
    expect([code, err.includes('exists already')]).toEqual([1, true])
    expect(readFileSync(join(folder, 'x.tar'), 'utf8')).toBe('mine')
    expect((await download([], {})).code).toBe(2)
  })
})

describe('volume divergences delete', () => {
  const run = async (typed: string | undefined, deleted: object, flags = {}) => {
    const terminal = scriptTerminal(typed === undefined ? {} : { typed })
    const client = scriptClient({ ...BEFORE, [`DELETE ${PATH}/1`]: deleted })
    const code = await volumeDivergencesDelete.run(invocation(terminal, ['data', '1'], flags), client)
    return { code, ...terminal.printed }
  }

  test('asks for the name, and names the node that confirmed', async () => {
    const { code, out } = await run('data', { epoch: 1, nodeId: 'node_1', nodeName: 'n1' })
    expect([code, out]).toEqual([0, 'volume/data: epoch 1 deleted on n1\n'])
    const again = await run(undefined, { epoch: 1 }, { yes: true })
    expect([again.code, again.out]).toEqual([0, 'volume/data: epoch 1 was deleted before\n'])
  })

  test.each([
    ['dat', 1],
    [undefined, 2],
  ])('deletes nothing after the answer %s', async (typed, exitCode) => {
    const { code, out } = await run(typed, {})
    expect([code, out]).toEqual([exitCode, ''])
  })
})
