import { expect, test } from 'vitest'
import { createStreamCheck } from './check-stream.ts'
import { checkpointStream, cloneFrom, command, streamOf } from './send-stream.fixture.ts'

const NAME = '1.2'
const [NEW, BASE, OTHER] = [Buffer.alloc(16, 1), Buffer.alloc(16, 2), Buffer.alloc(16, 3)]
const RULES = {
  name: NAME,
  own: new Set([BASE.toString('hex')]),
  others: new Set([OTHER.toString('hex')]),
  isPlainPath: async (uuid: string, path: Buffer) =>
    uuid === BASE.toString('hex') && path.toString() !== 'link/a',
}

/** Checks the bytes in pieces of a length and returns those that were passed on. */
async function check(bytes: Buffer, piece = bytes.length): Promise<Buffer> {
  const { add, end } = createStreamCheck(RULES)
  const passed: Buffer[] = []
  // The memory of each piece is overwritten afterwards, as that of a received chunk is.
  for (let at = 0; at < bytes.length; at += piece) {
    const chunk = Buffer.from(bytes.subarray(at, at + piece))
    passed.push(Buffer.from(await add(chunk)))
    chunk.fill(0xff)
  }
  end()
  return Buffer.concat(passed)
}

const subvolume = (uuid = NEW, path = NAME): Buffer => command('subvolume', { path, uuid, ctransid: 9 })
const snapshot = (cloneUuid: Buffer): Buffer =>
  command('snapshot', { path: NAME, uuid: NEW, ctransid: 9, cloneUuid, cloneCtransid: 9 })
const END = command('end')

test.each([
  ['a full checkpoint', checkpointStream(NAME, NEW)],
  ['changes of a checkpoint of the volume', streamOf(snapshot(BASE), cloneFrom(BASE, 'a'), END)],
  ['a file that is cloned within the checkpoint', checkpointStream(NAME, NEW, cloneFrom(NEW, 'file'))],
  [
    'a symbolic link to any place',
    checkpointStream(NAME, NEW, command('symlink', { path: 'a', ino: 3, pathLink: '/../etc' })),
  ],
  ['changes of its root', checkpointStream(NAME, NEW, command('chmod', { path: '', mode: 0o755 }))],
])('passes on %s', async (_what, bytes) => {
  for (const piece of [1, 7, bytes.length]) expect(await check(bytes, piece)).toEqual(bytes)
})

const paths = ['../a', 'a/../../b', '..', '/etc/passwd', 'a\0b']
test.each([
  ['another format', Buffer.from('nonsense'.repeat(9))],
  ['a later version of the format', Buffer.from('btrfs-stream\0\x02\0\0\0'.padEnd(40, '\0'), 'latin1')],
  ['another name', streamOf(subvolume(NEW, '1.3'), END)],
  ['a name in another folder', streamOf(subvolume(NEW, `../${NAME}`), END)],
  ['the UUID of another volume', streamOf(subvolume(OTHER), END)],
  ['no UUID', streamOf(command('subvolume', { path: NAME }), END)],
  ['a UUID that is too short', streamOf(subvolume(Buffer.alloc(15)), END)],
  ['changes of another volume', streamOf(snapshot(OTHER), END)],
  ['changes of itself', streamOf(snapshot(NEW), END)],
  ['changes of an unknown checkpoint', streamOf(snapshot(Buffer.alloc(16, 9)), END)],
  ['a file of another volume', checkpointStream(NAME, NEW, cloneFrom(OTHER, 'a'))],
  [
    'a file behind a symbolic link of an earlier checkpoint',
    streamOf(snapshot(BASE), cloneFrom(BASE, 'link/a'), END),
  ],
  ['two checkpoints', checkpointStream(NAME, NEW, subvolume(NEW, 'more'))],
  ['no checkpoint', streamOf(command('mkfile', { path: 'a', ino: 3 }), END)],
  ['an unknown command', checkpointStream(NAME, NEW, command('mkfile', { path: 'a' }, 25))],
  ['commands after its end', Buffer.concat([checkpointStream(NAME, NEW), command('mkfile', { path: 'a' })])],
  ['a byte after its end', Buffer.concat([checkpointStream(NAME, NEW), Buffer.alloc(1)])],
  ['a second stream', Buffer.concat([checkpointStream(NAME, NEW), checkpointStream(NAME, NEW)])],
  [
    'an attribute that is cut',
    checkpointStream(NAME, NEW, command('mkfile', { path: Buffer.alloc(0x1_0000) })),
  ],
  ['a command that is too long', Buffer.concat([streamOf(), Buffer.alloc(10, 0xff)])],
  ...paths.flatMap((path): [string, Buffer][] => [
    [`the path ${JSON.stringify(path)}`, checkpointStream(NAME, NEW, command('mkfile', { path, ino: 3 }))],
    [
      `a link to ${JSON.stringify(path)}`,
      checkpointStream(NAME, NEW, command('link', { path: 'a', pathLink: path })),
    ],
    [
      `a file renamed to ${JSON.stringify(path)}`,
      checkpointStream(NAME, NEW, command('rename', { path: 'file', pathTo: path })),
    ],
    [`a clone of ${JSON.stringify(path)}`, checkpointStream(NAME, NEW, cloneFrom(NEW, path))],
  ]),
])('rejects a stream with %s', async (_what, bytes) => {
  for (const piece of [13, bytes.length])
    await expect(check(bytes, piece)).rejects.toMatchObject({ fault: 'corrupt' })
})

test('passes on nothing of a command that it rejects, and rejects a stream that ends early', async () => {
  const begin = Buffer.concat([streamOf(), subvolume()])
  const { add } = createStreamCheck(RULES)
  expect(await add(begin)).toEqual(begin)
  const wrong = add(command('mkfile', { path: '../a', ino: 3 }))
  await expect(wrong).rejects.toThrow('a path leaves the checkpoint')
  await expect(check(begin)).rejects.toMatchObject({ fault: 'interrupted' })
  await expect(check(Buffer.concat([begin, END.subarray(1)]))).rejects.toThrow()
})
