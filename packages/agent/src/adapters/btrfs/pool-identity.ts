// The identity of a pool: a file in the pool and the same values in the agent's state folder. A pool that was replaced,
// emptied or not mounted is noticed, because the two differ.

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  boolean,
  decodeOpen,
  encodeOpen,
  type Infer,
  integer,
  object,
  optional,
  string,
} from '@holdfast/contract'
import { PoolError, type PoolOwner } from '../../ports/volume-pool.ts'
import { ifExists, writeDurably } from '../../state/durable-file.ts'

const IN_POOL = 'holdfast-pool.json'
const IN_STATE = 'pool.json'

const markShape = object({
  v: integer(),
  poolId: string(),
  /** The tenant whose data the pool may hold; absent in a pool that only older agents have opened. */
  tenant: optional(string()),
  /** Whether the pool had data, and no tenant, when it was opened for its tenant: the data may be of another one. */
  isAdopted: optional(boolean()),
  /** The last order by which all data of the pool was deleted. */
  wiped: optional(string()),
})
export type PoolMark = Infer<typeof markShape>
const rememberedShape = object({ v: integer(), poolId: string(), fileSystemId: string() })
export type RememberedPool = Infer<typeof rememberedShape>

/** The pool that this node had at its last start; undefined if it had none. */
export async function readRemembered(stateFolder: string): Promise<RememberedPool | undefined> {
  const text = await ifExists(readFile(join(stateFolder, IN_STATE), 'utf8'))
  return text === undefined ? undefined : decodeOpen(rememberedShape, JSON.parse(text))
}

export function requireFileSystem(remembered: RememberedPool | undefined, id: string, path: string): void {
  if (remembered === undefined || remembered.fileSystemId === id) return
  throw new PoolError(
    'changed',
    `${path} has file system ${id}; this node's pool is ${remembered.fileSystemId}.`,
  )
}

/** The identity in the pool; undefined if there is none. */
async function readMark(root: string): Promise<PoolMark | undefined> {
  const text = await ifExists(readFile(join(root, IN_POOL), 'utf8'))
  return text === undefined ? undefined : decodeOpen(markShape, JSON.parse(text))
}

const writeMark = (root: string, mark: PoolMark): Promise<void> =>
  writeDurably(join(root, IN_POOL), `${encodeOpen(mark)}\n`)

/** Returns the identity of the pool. Throws if it is another pool than the remembered one. */
export async function requirePool(remembered: RememberedPool, root: string): Promise<PoolMark> {
  const mark = await readMark(root)
  if (mark?.poolId === remembered.poolId) return mark
  const found = mark === undefined ? 'no pool' : `pool ${mark.poolId}`
  throw new PoolError('changed', `${root} has ${found}; this node's pool is ${remembered.poolId}.`)
}

/** Adopts the pool at the first start, writing its identity if it has none, and remembers it. */
export async function adoptPool(
  stateFolder: string,
  root: string,
  fileSystemId: string,
): Promise<RememberedPool> {
  const found = await readMark(root)
  const poolId = found?.poolId ?? randomUUID()
  if (found === undefined) await writeMark(root, { v: 1, poolId })
  const remembered = { v: 1, poolId, fileSystemId }
  await writeDurably(join(stateFolder, IN_STATE), `${encodeOpen(remembered)}\n`)
  return remembered
}

interface PoolData {
  readonly root: string
  readonly fileSystemId: string
  isEmpty(): Promise<boolean>
  /** Deletes all data of volumes. */
  wipe(): Promise<void>
}

/**
 * Makes the pool one of the tenant, before any of its data can be listed or mounted. Data of another tenant is deleted
 * first, which needs the order of a server: only it knows whether the other tenant has released the machine. The pool
 * names its new tenant after the deletion, so an interrupted one is repeated.
 */
export async function claimPool(
  data: PoolData,
  mark: PoolMark,
  { tenant, order: given }: PoolOwner,
): Promise<PoolMark> {
  const order = given?.poolId === data.fileSystemId && given.id !== mark.wiped ? given : undefined
  const isProven = mark.tenant === tenant && mark.isAdopted !== true
  if (mark.tenant === tenant && order === undefined) return mark
  if (mark.tenant === undefined && order === undefined) {
    const isAdopted = !(await data.isEmpty())
    return written(data.root, { ...mark, tenant, ...(isAdopted && { isAdopted }) })
  }
  const isDeleted = !isProven || order?.reason === 'released'
  if (isDeleted && order === undefined && !(await data.isEmpty())) throw foreign(data, mark, tenant)
  if (isDeleted)
    await data.wipe().catch((error: unknown) => throwWipeFault(error, foreign(data, mark, tenant)))
  const { isAdopted: _adopted, ...kept } = mark
  return written(data.root, { ...kept, tenant, ...(order && { wiped: order.id }) })
}

const foreign = ({ root, fileSystemId }: PoolData, mark: PoolMark, tenant: string): PoolError =>
  new PoolError(
    'foreign',
    `The pool at ${root} has data of tenant ${mark.tenant}, and this node belongs to ${tenant}. Nothing of it is used. It is deleted once the other tenant no longer has this machine and no container mounts it; stop such containers.`,
    undefined,
    { fileSystemId, tenant: mark.tenant },
  )

/** Containers of the other tenant keep its data from being deleted; the pool stays foreign until they are gone. */
function throwWipeFault(error: unknown, ofOther: PoolError): never {
  const isUsed = error instanceof PoolError && error.fault === 'busy'
  throw isUsed && ofOther.foreign?.tenant !== undefined ? ofOther : error
}

async function written(root: string, mark: PoolMark): Promise<PoolMark> {
  await writeMark(root, mark)
  return mark
}
