// Reading deployments and their archive. A foreign deployment and a missing one give the same answer (DECISIONS 3).

import { type ArchiveEntry, type DeploymentRecord, isDeploymentUid, type TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { archive, deployments } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { done, type Outcome, refused } from '../../caller.ts'
import { type Page, pageOf, readCursor } from '../../page.ts'
import { archiveId } from '../write/store-deployment.ts'
import { deploymentView } from './deployment-view.ts'
import { findStored } from './find-deployment.ts'

export async function getDeployment(
  store: Store,
  tenant: TenantId,
  path: string,
): Promise<Outcome<DeploymentRecord>> {
  await store.fresh()
  const found = findStored(store, tenant, path)
  return found.ok ? done(deploymentView(store, tenant, found.value)) : found
}

export interface PageRequest {
  readonly limit: number
  readonly cursor: string | undefined
}

export async function listDeployments(
  store: Store,
  tenant: TenantId,
  { limit, cursor }: PageRequest,
): Promise<Outcome<Page<DeploymentRecord>>> {
  const from = readCursor(cursor)
  if (!from.ok) return refused(from.rejection)
  await store.fresh()
  const sorted = store
    .list(deployments, tenant)
    .sort((left, right) => (left.record.spec.name < right.record.spec.name ? -1 : 1))
  const { items, nextCursor } = pageOf(sorted, ({ record }) => record.spec.name, limit, from.after)
  return done({ items: items.map(({ record }) => deploymentView(store, tenant, record)), nextCursor })
}

export async function listArchive(
  store: Store,
  tenant: TenantId,
  name: string,
  { limit, cursor }: PageRequest,
): Promise<Outcome<Page<ArchiveEntry>>> {
  const from = readCursor(cursor)
  if (!from.ok) return refused(from.rejection)
  await store.fresh()
  const own = store.keysOf(archive, tenant).filter(({ id }) => id.startsWith(`${name}/`))
  if (own.length === 0) return refused(reject('archive_not_found', 'name', name))
  const sorted = [...own].sort((left, right) => (left.id < right.id ? -1 : 1))
  const { items, nextCursor } = pageOf(sorted, ({ id }) => id, limit, from.after)
  const entries = await store.read(
    archive,
    items.map(({ key }) => key),
  )
  return done({
    items: entries.flatMap((entry) => (entry === undefined ? [] : [archiveView(entry)])),
    nextCursor,
  })
}

const REVISION = /^[1-9]\d{0,9}$/

export async function getArchived(
  store: Store,
  tenant: TenantId,
  name: string,
  revision: string,
): Promise<Outcome<ArchiveEntry>> {
  const id = REVISION.test(revision) && !isDeploymentUid(name) ? archiveId(name, Number(revision)) : undefined
  const key = id && store.keyspace.tenantKey(tenant, archive.folder, id)
  const [entry] = key === undefined ? [] : await store.read(archive, [key])
  return entry === undefined
    ? refused(reject('archive_not_found', 'revision', revision))
    : done(archiveView(entry))
}

function archiveView({
  v: _version,
  tx: _transaction,
  ...entry
}: ArchiveEntry & { v: number; tx: string }): ArchiveEntry {
  return entry
}
