// The kinds of resources that `holdfast get` lists.

import type { Client, Result } from '@holdfast/client'
import { printItems } from '../print/output.ts'
import type { TableOptions } from '../print/table.ts'
import { tableRows } from '../print/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { audit } from './audit.ts'
import { backups } from './backups.ts'
import { deployments } from './deployments.ts'
import { events } from './events.ts'
import { jobs } from './jobs.ts'
import { networks } from './networks.ts'
import { nodes } from './nodes.ts'
import { quotas } from './quotas.ts'
import { regions } from './regions.ts'
import { registries } from './registries.ts'
import { replicas } from './replicas.ts'
import { residency } from './residency.ts'
import type { Resource } from './resource.ts'
import { routes } from './routes.ts'
import { tenants } from './tenants.ts'
import { volumes } from './volumes.ts'

/** A resource kind without its item type, so that all kinds fit into one list. */
export interface AnyResource {
  readonly names: readonly [string, ...string[]]
  read(client: Client, name: string | undefined): Promise<Result<Snapshot>>
}

export interface RowOptions extends TableOptions {
  /** Format of each line: a JSON object, or the name as `kind/name`; absent: a row of the table. */
  readonly form?: 'json' | 'name'
}

export interface Snapshot {
  print(terminal: Terminal, form: string | undefined): Promise<void>
  /** Returns one line per item, without a header line; the key is the item's name. */
  rows(options: RowOptions): ReadonlyMap<string, string>
}

function anyResource<T>(resource: Resource<T>): AnyResource {
  const { names, kind, nameOf, columns } = resource
  const snapshot = (items: readonly T[], one: boolean): Snapshot => ({
    print: (terminal, form) => printItems(terminal, form, resource, items, one),
    rows({ form, ...options }) {
      if (form === 'json') return new Map(items.map((item) => [nameOf(item), JSON.stringify(item)]))
      if (form === 'name') return new Map(items.map((item) => [nameOf(item), `${kind}/${nameOf(item)}`]))
      const { rows } = tableRows(columns, items, options)
      return new Map(items.map((item, at) => [nameOf(item), rows[at]?.join('\n') ?? '']))
    },
  })
  return {
    names,
    async read(client, name) {
      if (name !== undefined && resource.read !== undefined) {
        const read = await resource.read(client, name)
        return read.ok ? { ok: true, value: snapshot([read.value], true) } : read
      }
      const listed = await resource.list(client)
      if (!listed.ok) return listed
      if (name === undefined) return { ok: true, value: snapshot(listed.value, false) }
      const { selects = (item, typed) => nameOf(item) === typed } = resource
      const items = listed.value.filter((item) => selects(item, name))
      return { ok: true, value: snapshot(items, resource.selects === undefined) }
    },
  }
}

export const RESOURCES: readonly AnyResource[] = [
  anyResource(deployments),
  anyResource(nodes),
  anyResource(replicas),
  anyResource(routes),
  anyResource(events),
  anyResource(registries),
  anyResource(regions),
  anyResource(quotas),
  anyResource(audit),
  anyResource(tenants),
  anyResource(volumes),
  anyResource(backups),
  anyResource(networks),
  anyResource(jobs),
  anyResource(residency),
]

export const findResource = (typed: string): AnyResource | undefined =>
  RESOURCES.find(({ names }) => names.includes(typed))
