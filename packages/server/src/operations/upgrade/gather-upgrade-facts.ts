// Gathers the facts about servers, agents and records by which an upgrade is judged.

import { type TenantId, VERSION } from '@holdfast/contract'
import type { UpgradeFacts } from '@holdfast/core'
import { type Migration, newestOf } from '../../migrations/migration.ts'
import { MIGRATIONS } from '../../migrations/migrations.ts'
import { formOf } from '../../store/encode.ts'
import { FIRST_FORMAT, formatAddress } from '../../store/format.ts'
import type { Finalize } from '../../store/next-format.ts'
import type { RecordForm } from '../../store/records/collection.ts'
import { COLLECTIONS, type Collection, nodes, serverReplicas, tenants } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

/** The version whose agents and servers do not report theirs. */
const FIRST_VERSION = '0.1.0'

export interface PlanOptions {
  /** The setting of the servers. The store of the plan itself never raises a form. */
  readonly finalize: Finalize
  /** The keys of records that could not be decoded; complete once all records were read. */
  readonly unreadable: ReadonlySet<string>
  /** Only tests give others. */
  readonly migrations?: readonly Migration[]
}

export async function gatherUpgradeFacts(
  store: Store,
  { finalize, unreadable, migrations = MIGRATIONS }: PlanOptions,
): Promise<UpgradeFacts> {
  await store.fresh()
  const forms = store.forms.toSorted((left, right) => left.v - right.v)
  const [oldest, newest] = [forms[0], forms.at(-1)]
  const records = gatherOlderRecords(store, oldest?.v ?? 1, migrations)
  return {
    program: {
      version: VERSION,
      oldest: oldest?.v ?? 1,
      newest: newest?.v ?? 1,
      since: newest?.since ?? VERSION,
    },
    writes: (store.get(formatAddress)?.record ?? FIRST_FORMAT).writes,
    raisedBy: raisedBy(finalize, newest),
    servers: store.listWithIds(serverReplicas).map(({ id, record }) => ({
      id,
      version: record.version ?? FIRST_VERSION,
      reads: record.reads ?? 1,
    })),
    agents: gatherAgents(store),
    records,
    unreadable: unreadable.size,
  }
}

function raisedBy(finalize: Finalize, newest: RecordForm | undefined): UpgradeFacts['raisedBy'] {
  if (finalize === 'manual') return 'operator'
  return newest?.onDemand === true ? 'request' : 'servers'
}

/** The agents of all nodes that were connected at least once. */
const gatherAgents = (store: Pick<Store, 'list'>): UpgradeFacts['agents'] =>
  store
    .list(tenants)
    .flatMap(({ record: { id, name } }) =>
      store
        .list(nodes, id)
        .flatMap(({ record }) =>
          record.agent === undefined
            ? []
            : [{ node: `${name}/${record.name}`, version: record.agent.version }],
        ),
    )

/** Reads all records that are kept in memory, and counts those of an older form than the program reads or writes. */
function gatherOlderRecords(
  store: Store,
  oldest: number,
  migrations: readonly Migration[],
): UpgradeFacts['records'] {
  const owners = store.list(tenants).map(({ record }) => record.id)
  return COLLECTIONS.filter(({ cached }) => cached).flatMap((collection) => {
    const becomes = Math.max(oldest, newestOf(migrations, collection))
    const forms = formsOf(store, collection, collection.scope === 'tenant' ? owners : [undefined])
    return [...forms]
      .filter(([form]) => form < becomes)
      .map(([form, count]) => ({ kind: collection.folder, form, becomes, count }))
  })
}

/** The number of records of each form. */
function formsOf(
  store: Pick<Store, 'list'>,
  collection: Collection<unknown>,
  owners: readonly (TenantId | undefined)[],
): ReadonlyMap<number, number> {
  const forms = new Map<number, number>()
  for (const owner of owners)
    for (const { record } of store.list(collection, owner)) {
      const form = formOf(record)
      forms.set(form, (forms.get(form) ?? 0) + 1)
    }
  return forms
}
