// Streams that an authorised but hostile primary sends for its own volume: paths out of the checkpoint, data and UUIDs of
// other volumes, other names, commands after the end, and damage. btrfs accepts several of them.

import { randomBytes } from 'node:crypto'
import type { Random } from '@holdfast/testkit/hostile/random'
import {
  checkpointStream,
  cloneFrom,
  command,
  type StreamCommand,
  streamOf,
} from '../../adapters/btrfs/send-stream.fixture.ts'

export interface StreamGoods {
  /** Name of the offered checkpoint. */
  readonly name: string
  /** UUIDs of subvolumes of other volumes in the victim's pool. */
  readonly uuids: readonly [Buffer, ...Buffer[]]
  /** Paths of other volumes' files, from the root of the pool. */
  readonly paths: readonly string[]
}

type MakeStream = (random: Random, goods: StreamGoods) => Buffer

const END = command('end')
const begin = ({ name }: StreamGoods, uuid: Buffer = randomBytes(16)): Buffer =>
  command('subvolume', { path: name, uuid, ctransid: 9 })
const complete = ({ name }: StreamGoods, ...commands: readonly Buffer[]): Buffer =>
  checkpointStream(name, randomBytes(16), ...commands)

function outside(random: Random, { paths }: StreamGoods): string {
  const up = '../'.repeat(1 + random.below(6))
  const places = [...paths, 'notes/x.json', 'holdfast-pool.json', 'etc/passwd', 'x'] as const
  const place = places[random.below(places.length)] ?? 'x'
  return random.pick([`${up}${place}`, `/${place}`, `file/${up}${place}`, `a/./../../${place}`])
}

const PATH_COMMANDS: readonly [StreamCommand, ...StreamCommand[]] = [
  'mkfile',
  'mkdir',
  'mknod',
  'unlink',
  'truncate',
  'chmod',
  'write',
  'setXattr',
]

/** Every stream here must be refused, although most have a valid form and a valid digest. */
export const HOSTILE_STREAMS: { readonly [what: string]: MakeStream } = {
  'a path out of the checkpoint': (random, goods) => {
    const path = outside(random, goods)
    const rest = { mode: 0o600, size: 0, ino: 301, rdev: 0x700, fileOffset: 0, data: 'x' }
    return complete(goods, command(random.pick(PATH_COMMANDS), { path, ...rest }))
  },
  'a file moved or linked across the border': (random, goods) => {
    const path = outside(random, goods)
    return complete(
      goods,
      random.pick([
        command('rename', { path: 'file', pathTo: path }),
        command('rename', { path, pathTo: 'file' }),
        command('link', { path: 'a', pathLink: path }),
        command('link', { path, pathLink: 'file' }),
      ]),
    )
  },
  'a file behind a symbolic link': (random, goods) => {
    const pathLink = random.pick(['/', '..', '../..', '/proc/self/root', '/etc', `/${goods.paths[0]}`])
    const symlink = command('symlink', { path: 'way', ino: 302, pathLink })
    return complete(goods, symlink, command('mkfile', { path: 'way/x', ino: 303 }))
  },
  'a snapshot of another volume': (random, goods) => {
    const cloneUuid = random.chance(0.8) ? random.pick(goods.uuids) : randomBytes(16)
    const source = { cloneUuid, cloneCtransid: random.below(40) }
    return streamOf(
      command('snapshot', { path: goods.name, uuid: randomBytes(16), ctransid: 9, ...source }),
      END,
    )
  },
  'a clone of a file of another volume': (random, goods) =>
    complete(goods, cloneFrom(random.pick(goods.uuids), 'file')),
  'the UUID of another volume': (random, goods) =>
    streamOf(begin(goods, random.pick(goods.uuids)), command('mkfile', { path: 'file', ino: 300 }), END),
  'another name': (random, goods) =>
    streamOf(begin({ ...goods, name: random.pick(['1.1', '9.9', outside(random, goods), '', '.']) }), END),
  'a second checkpoint': (random, goods) =>
    complete(goods, begin({ ...goods, name: random.pick(['1.1', 'more', goods.name]) })),
  'commands after the end': (random, goods) =>
    Buffer.concat([
      complete(goods),
      random.pick([command('mkfile', { path: 'late', ino: 304 }), complete(goods), randomBytes(50)]),
    ]),
  'no end': (_, goods) => streamOf(begin(goods), command('mkfile', { path: 'file', ino: 300 })),
  'an attribute that is too long': (random, goods) =>
    complete(goods, command('mkfile', { path: 'q'.repeat(random.pick([5000, 65_000, 70_000])), ino: 305 })),
  'an unknown command': (random, goods) =>
    complete(goods, command('mkfile', { path: 'a' }, 23 + random.below(60_000))),
  'a length that is not true': (random, goods) => {
    const bytes = complete(goods)
    bytes.writeUInt32LE(random.below(2 ** 32), 17)
    return bytes
  },
  'damaged bytes': (random, goods) => {
    const bytes = complete(goods)
    const at = random.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 + random.below(255))
    return bytes
  },
  'no stream': (random) => randomBytes(1 + random.below(100_000)),
}
