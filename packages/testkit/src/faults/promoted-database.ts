// A PostgreSQL in a world of promotions: its data and its log on two volumes that are promoted together, a client that
// inserts numbers, and pgbench. After a power cut its tables and indexes are checked, and what it has lost is measured.

import { waitUntil } from '@holdfast/testkit'
import { postgresProgram } from '../images/postgres-image.ts'
import { type BenchLedger, startBench } from '../scenarios/bench-ledger.ts'
import { findDatabase, type Ledger, startLedger } from '../scenarios/database-ledger.ts'
import { eventsOf, placementsOf, untilPhase } from '../scenarios/lab-reads.ts'
import { isPromotable, newestHeld, type PromotionWorld } from './promotion-world.ts'

const MIB = 1024 ** 2
const NAME = 'db'
const PARTS = ['data', 'wal'] as const
/** How many inserts the client gets confirmed before each cut. */
const INSERTS = 10

export interface PromotedDatabase {
  readonly ledger: Ledger
  readonly bench: BenchLedger
  /** Waits until the database runs with promotable copies and has confirmed further inserts. */
  untilWrites(): Promise<void>
  /** Checks the database on its new machine after the machine of before lost power at a time. */
  check(cutMs: number): Promise<DatabaseCheck>
  stop(): Promise<void>
}

export interface DatabaseCheck {
  /** Confirmed numbers that are missing since this cut. */
  readonly lost: number
  /** Time of the first lost number before the cut; 0 without any. */
  readonly lostMs: number
  /** Null if an event states none. */
  readonly statedMs: number | null
  /** Commits of pgbench that are missing since any cut. */
  readonly lostCommits: number
  readonly balanced: boolean
  /** Output of pg_amcheck; empty if nothing is corrupt. */
  readonly corrupt: string
}

/** Pushes the image of the database; returns its reference. Compressing it keeps this machine busy for seconds. */
export const pushDatabase = async ({ lab }: Pick<PromotionWorld, 'lab'>): Promise<string> =>
  (await lab.registry.pushPostgresImage('acme/postgres', '15')).reference

export async function startPromotedDatabase(
  world: PromotionWorld,
  nodeId: string,
  image: string,
): Promise<PromotedDatabase> {
  const { api, cluster } = world
  const volumes = await Promise.all(PARTS.map((part) => makeVolume(world, `${NAME}-${part}`, nodeId)))
  const created = await api.post('/api/v1/deployments', bodyOf(image, volumes))
  if (created.status !== 201) throw new Error(created.text)
  await untilPhase(api, NAME, 'Running')
  const ledger = await startLedger(cluster, NAME)
  const bench = await startBench(cluster, NAME)
  await untilHeld(world, volumes)
  const lostBefore = new Set<number>()
  return {
    ledger,
    bench,
    untilWrites: async () => {
      await untilBacked(world, volumes)
      const [inserted, committed] = [ledger.confirmed.size, bench.log.committed.size]
      const hasGrown = () =>
        ledger.confirmed.size >= inserted + INSERTS && bench.log.committed.size > committed
      await waitUntil(hasGrown, {
        what: 'the database confirms inserts and pgbench commits',
        timeoutMs: 90_000,
        seen: () => bench.log.lastError,
      })
    },
    check: async (cutMs) => {
      await untilPhase(api, NAME, 'Running')
      // The former primary may confirm rows for a moment after the time of the cut, so every row confirmed so far counts.
      const confirmed = [...ledger.confirmed]
      const stored = new Set((await ledger.query('select n from ledger')).map(Number))
      const lost = confirmed.filter(([number]) => !stored.has(number) && !lostBefore.has(number))
      for (const [number] of lost) lostBefore.add(number)
      const { missing, balanced } = await bench.check()
      return {
        lost: lost.length,
        lostMs: Math.max(0, cutMs - Math.min(cutMs, ...lost.map(([, atMs]) => atMs))),
        statedMs: await statedLoss(world),
        lostCommits: missing.length,
        balanced,
        corrupt: await amcheck(world),
      }
    },
    stop: async () => void (await Promise.all([ledger.stop(), bench.stop()])),
  }
}

async function makeVolume(world: PromotionWorld, name: string, nodeId: string): Promise<string> {
  const path = `/api/v1/tenants/${world.cluster.platform.acme.id}/volumes`
  const sent = { name, class: 'replicated', sizeBytes: 160 * MIB, replicas: 1, nodeId }
  const created = await world.api.post(path, sent)
  if (created.status !== 201) throw new Error(created.text)
  const id: string = Object(created.body['volume']).id
  await waitUntil(async () => (await world.readVolume(id)).phase === 'Ready', {
    what: `volume ${name} is ready`,
  })
  return id
}

const bodyOf = (image: string, [data, wal]: readonly string[]) => ({
  kind: 'Deployment',
  name: NAME,
  image,
  replicas: 1,
  environment: { PGWAL: '/var/lib/wal/log' },
  healthCheck: {
    type: 'exec',
    command: ['psql', '-h', '127.0.0.1', '-U', 'postgres', '-c', 'select 1'],
    interval: '5s',
  },
  volumes: [
    { volume: data, target: '/var/lib/data', type: 'volume', readOnly: false },
    { volume: wal, target: '/var/lib/wal', type: 'volume', readOnly: false },
  ],
})

async function untilBacked(world: PromotionWorld, volumes: readonly string[]): Promise<void> {
  const isBacked = async (id: string): Promise<boolean> => {
    const view = await world.readVolume(id)
    return view.phase === 'Ready' && isPromotable(view)
  }
  await waitUntil(async () => (await Promise.all(volumes.map(isBacked))).every(Boolean), {
    what: 'both volumes of the database have promotable copies',
    timeoutMs: 120_000,
  })
  await waitUntil(async () => (await placementsOf(world.api, NAME)).some(({ state }) => state === 'ready'), {
    what: 'the database is ready',
    timeoutMs: 60_000,
  })
}

/** Waits until the other machine holds a checkpoint that was taken after this call: the second one that it gets. */
async function untilHeld({ cluster, readVolume }: PromotionWorld, volumes: readonly string[]): Promise<void> {
  for (const volume of volumes) {
    const { copies, primary } = await readVolume(volume)
    const name = copies.find(({ nodeId }) => nodeId !== primary?.nodeId)?.nodeName ?? ''
    const seen = new Set<string | undefined>()
    await waitUntil(() => seen.add(newestHeld(cluster.node(name), volume)).size > 2, {
      what: `${name} has a new checkpoint of ${volume}`,
      timeoutMs: 120_000,
    })
  }
}

/** The largest loss that the newest events about the volumes of the database state. */
async function statedLoss({ api }: PromotionWorld): Promise<number | null> {
  const events = await eventsOf(api, 'volume.promoted')
  const newest = PARTS.map((part) =>
    events
      .filter(({ subject }) => subject.name === `${NAME}-${part}`)
      .toSorted((a, b) => Object(b.data).toEpoch - Object(a.data).toEpoch)
      .at(0),
  )
  const stated = newest.map((event) => Object(event?.data).lossSeconds)
  return stated.some((seconds) => typeof seconds !== 'number') ? null : Math.max(...stated) * 1_000
}

/** Reads every page of every table and index, with its checksum, and compares the indexes with the tables. */
async function amcheck({ cluster }: PromotionWorld): Promise<string> {
  const { node, address } = await findDatabase(cluster, NAME)
  const words = ['-h', address, '-U', 'postgres', '--install-missing', '--heapallindexed', 'postgres']
  return node.exec([postgresProgram('pg_amcheck'), ...words]).catch(String)
}
