// Reads deployments and their archived revisions. Another tenant's deployment and a missing one get the same answer.

import { type ArchiveEntry, type DeploymentRecord, isDeploymentUid, type TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { archive, deployments } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { done, type Outcome, refused } from '../../caller.ts'
import { listPage, mapPage, type Page, type PageRequest, readPage } from '../../page.ts'
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

export async function listDeployments(
  store: Store,
  tenant: TenantId,
  request: PageRequest,
): Promise<Outcome<Page<DeploymentRecord>>> {
  const stored = () => store.list(deployments, tenant).map(({ record }) => record)
  const page = await listPage(store, request, stored, ({ spec }) => spec.name)
  return mapPage(page, (record) => deploymentView(store, tenant, record))
}

export async function listArchive(
  store: Store,
  tenant: TenantId,
  name: string,
  request: PageRequest,
): Promise<Outcome<Page<ArchiveEntry>>> {
  const own = () => store.keysOf(archive, tenant).filter(({ id }) => id.startsWith(`${name}/`))
  const page = await listPage(store, request, own, ({ id }) => id)
  if (page.ok && own().length === 0) return refused(reject('archive_not_found', 'name', name))
  return readPage(page, (keys) => store.read(archive, keys), archiveView)
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

export function archiveView({
  v: _version,
  tx: _transaction,
  ...entry
}: ArchiveEntry & { v: number; tx: string }): ArchiveEntry {
  return entry
}
