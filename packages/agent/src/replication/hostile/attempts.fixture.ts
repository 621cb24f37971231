// Attempts to read or change the victim's pool through its peer port. Each kind draws its details from a random source.

import { randomBytes } from 'node:crypto'
import type { Random } from '@holdfast/testkit/hostile/random'
import { newVolumeId } from '../peer-nodes.fixture.ts'
import { HOSTILE_STREAMS, type StreamGoods } from './hostile-streams.fixture.ts'
import { type Attacker, type HostileWorld, uuidsAt } from './hostile-world.fixture.ts'
import { asPeer, frame, header, type Speech, streamed } from './speak.fixture.ts'

export interface Attempt {
  readonly what: string
  readonly speech: Speech
  /** Whether the server allows the sender to send this checkpoint, so that btrfs may read the stream. */
  readonly isAuthorised: boolean
  /** Whether the sender is no peer, so that it gets no answer at all. */
  readonly isStranger?: boolean
}

export type MakeAttempt = (random: Random) => Attempt

/** The hostile node may send this checkpoint of its own volume. */
const NEXT = { epoch: 1, number: 2 }
const STREAM = streamed(randomBytes(4096))
const NUMBERS: readonly [unknown, ...unknown[]] = [
  0,
  ...[1, 2, 3, 7, 999_999_999_999_999, -1, 1.5, 1e300],
  ...['1', '../1', null, [1]],
]
const IDS = ['../../etc', 'vol_../../x', '/etc/passwd', '', '.', '..', 'vol_01JCPZ0000000000000000000A/..']
const PEERS: readonly [Attacker, ...Attacker[]] = ['hostile', 'idle']
const OUTSIDERS: readonly [Attacker, ...Attacker[]] = ['foreign', 'stranger']

/** `captured` is what the honest primary sent over TCP when it replicated. */
export function attemptsOn(world: HostileWorld, captured: Buffer): readonly MakeAttempt[] {
  const { attackers, target, own, lent, victim } = world
  const port = Number(victim.peer.address.split(':')[1])
  const by = (who: Attacker, bytes: Buffer, isEnded = false) => ({
    speech: { port, bytes, tls: asPeer(attackers[who]), isEnded },
    isAuthorised: false,
    isStranger: OUTSIDERS.includes(who),
  })
  const copy = (volume: unknown, checkpoint: object, rest: object = {}): Buffer =>
    Buffer.concat([header({ request: 'copy', volume, checkpoint, ...rest }), STREAM])
  const checkpointIn = (random: Random): object => ({
    epoch: random.pick(NUMBERS),
    number: random.pick(NUMBERS),
  })
  const raw = (bytes: Buffer) => ({ speech: { port, bytes }, isAuthorised: false })
  const kinds: { readonly [what: string]: (random: Random) => Omit<Attempt, 'what'> } = {
    'a copy by a node that is no peer': (random) =>
      by(random.pick(OUTSIDERS), copy(random.pick([target, own, lent]), NEXT)),
    'a confirmation by a node that is no peer': (random) =>
      by(random.pick(OUTSIDERS), header({ request: 'confirm', volumes: [{ volume: target, epoch: 1 }] })),
    'a copy of a volume of another primary': (random) =>
      by(random.pick(PEERS), copy(target, { epoch: random.below(3), number: random.below(9) })),
    'a copy of the volume that the victim lent': (random) => by(random.pick(PEERS), copy(lent, NEXT)),
    'a copy of a volume of the hostile node by another peer': () => by('idle', copy(own, NEXT)),
    'a copy of an unknown volume': (random) => by(random.pick(PEERS), copy(newVolumeId(), NEXT)),
    'a confirmation that asks for other volumes': (random) => {
      const epoch = random.below(3)
      const asked = Array.from({ length: random.below(198) }, newVolumeId)
      const volumes = [target, lent, ...asked].map((volume) => ({ volume, epoch }))
      return by(random.pick(PEERS), header({ request: 'confirm', volumes }))
    },
    'an old or unknown epoch': (random) =>
      by('hostile', copy(own, { epoch: random.pick([0, 2, 3, 1_000_000]), number: 1 + random.below(9) })),
    'an old or replayed checkpoint': (random) =>
      by('hostile', copy(own, { epoch: 1, number: random.below(2) })),
    'a base that the victim lacks': (random) =>
      by('hostile', copy(own, NEXT, { base: { epoch: 1, number: 5 + random.below(9) } })),
    'an invalid checkpoint': (random) => by('hostile', copy(target, checkpointIn(random))),
    'an invalid id of a volume': (random) =>
      by('hostile', copy(IDS[random.below(IDS.length)], { epoch: 1, number: 1 })),
    'a header with random changes': (random) => {
      const bytes = copy(target, { epoch: 1, number: 1 })
      for (let change = 0; change <= random.below(4); change += 1)
        bytes[random.below(120)] = random.below(256)
      return by('hostile', bytes, true)
    },
    'a frame that claims too many bytes': (random) => {
      const head = frame(random.pick([1, 2, 3, 4]), '')
      head.writeUInt32BE(2 ** 31 + random.below(2 ** 31), 1)
      return by('hostile', Buffer.concat([head, randomBytes(100_000)]))
    },
    'a header that is too long': (random) => by('hostile', frame(1, 'x'.repeat(65_537 + random.below(1e6)))),
    'random bytes over TLS': (random) => by(random.pick(PEERS), randomBytes(random.below(5000)), true),
    'random bytes over TCP': (random) => raw(randomBytes(1 + random.below(5000))),
    'a replay of captured packets': (random) =>
      raw(captured.subarray(0, random.chance(0.3) ? captured.length : 1 + random.below(captured.length))),
    'a connection that is cut in its request': (random) => {
      const bytes = copy(own, NEXT)
      return by('hostile', bytes.subarray(0, random.below(100)), true)
    },
    'another version of TLS': () => ({
      speech: {
        port,
        bytes: copy(own, NEXT),
        tls: { ...asPeer(attackers.hostile), minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' },
      },
      isAuthorised: false,
    }),
  }
  return [
    ...Object.entries(kinds).map(([what, make]) => (random: Random) => ({ what, ...make(random) })),
    ...authorised(world, (bytes, isEnded) => ({ ...by('hostile', bytes, isEnded), isAuthorised: true })),
  ]
}

/** Attempts of the hostile node with its own volume, for which the server allows it to send a checkpoint. */
function authorised(
  { own, target, lent, victim }: HostileWorld,
  send: (bytes: Buffer, isEnded?: boolean) => Omit<Attempt, 'what'>,
): MakeAttempt[] {
  const paths = [`checkpoints/${target}/1.1/1.1`, `checkpoints/${lent}/1.1/1.1`, `volumes/${lent}`]
  const [first = Buffer.alloc(16), ...others] = paths.flatMap((path) => uuidsAt(victim, path))
  const goods: StreamGoods = {
    name: '1.2',
    uuids: [first, ...others],
    paths: paths.map((path) => `${path}/file`),
  }
  const request = header({ request: 'copy', volume: own, checkpoint: NEXT })
  const streams = Object.entries(HOSTILE_STREAMS).map(([what, make]) => (random: Random) => {
    return { what: `a stream with ${what}`, ...send(Buffer.concat([request, streamed(make(random, goods))])) }
  })
  const valid = (random: Random): Buffer => HOSTILE_STREAMS['no end']?.(random, goods) ?? Buffer.alloc(0)
  return [
    ...streams,
    (random) => ({
      what: 'a trailer that does not match',
      ...send(
        Buffer.concat([
          request,
          streamed(
            valid(random),
            random.pick([{ bytes: 1 }, { sha256: '0'.repeat(64) }, { bytes: -1 }, { sha256: '../x' }]),
          ),
        ]),
      ),
    }),
    (random) => {
      const bytes = Buffer.concat([request, streamed(valid(random))])
      const cut = request.length + random.below(bytes.length - request.length)
      return { what: 'a stream that is cut', ...send(bytes.subarray(0, cut), true) }
    },
  ]
}

/** Connections that are opened and then used slowly or not at all. Each comes from an address of its own. */
export function idleAttempts({ victim, attackers, target }: HostileWorld, count: number): Speech[] {
  const port = Number(victim.peer.address.split(':')[1])
  const request = header({ request: 'copy', volume: target, checkpoint: NEXT })
  const kinds: Omit<Speech, 'port' | 'from'>[] = [
    { bytes: Buffer.alloc(0) },
    { bytes: Buffer.from([22, 3, 1, 2, 0, 1]) },
    { bytes: randomBytes(500), bytesPerSecond: 2 },
    { bytes: Buffer.alloc(0), tls: asPeer(attackers.idle) },
    { bytes: request, tls: asPeer(attackers.idle), bytesPerSecond: 4 },
    { bytes: Buffer.from([1, 0, 0, 255, 255]), tls: asPeer(attackers.idle) },
  ]
  return Array.from({ length: count }, (_, at) => {
    const kind = kinds[at % kinds.length] ?? { bytes: Buffer.alloc(0) }
    return { ...kind, port, from: `127.0.${1 + Math.floor(at / 200)}.${1 + (at % 200)}` }
  })
}
