// The identity of a pool: a file in the pool and the same values in the agent's state folder. A pool that was replaced,
// emptied or not mounted is noticed, because the two differ.

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeOpen, encodeOpen, type Infer, integer, object, string } from '@holdfast/contract'
import { PoolError } from '../../ports/volume-pool.ts'
import { writeDurably } from '../../state/durable-file.ts'
import { ifExists } from './files.ts'

const IN_POOL = 'holdfast-pool.json'
const IN_STATE = 'pool.json'

const markShape = object({ v: integer(), poolId: string() })
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

/** The id in the pool's file; undefined if there is no such file. */
async function readPoolId(root: string): Promise<string | undefined> {
  const text = await ifExists(readFile(join(root, IN_POOL), 'utf8'))
  return text === undefined ? undefined : decodeOpen(markShape, JSON.parse(text)).poolId
}

export async function requirePool(remembered: RememberedPool, root: string): Promise<void> {
  const poolId = await readPoolId(root)
  if (poolId === remembered.poolId) return
  const found = poolId === undefined ? 'no pool' : `pool ${poolId}`
  throw new PoolError('changed', `${root} has ${found}; this node's pool is ${remembered.poolId}.`)
}

/** Adopts the pool at the first start, writing its identity if it has none, and remembers it. */
export async function adoptPool(
  stateFolder: string,
  root: string,
  fileSystemId: string,
): Promise<RememberedPool> {
  const found = await readPoolId(root)
  const poolId = found ?? randomUUID()
  if (found === undefined) await writeDurably(join(root, IN_POOL), `${encodeOpen({ v: 1, poolId })}\n`)
  const remembered = { v: 1, poolId, fileSystemId }
  await writeDurably(join(stateFolder, IN_STATE), `${encodeOpen(remembered)}\n`)
  return remembered
}
