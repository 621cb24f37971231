// Reads a file of the agent's state folder that belongs to one enrollment of the node.

import { decodeOpen, type NodeId, type Shape } from '@holdfast/contract'
import { readIfExists } from './durable-file.ts'

interface Owned {
  readonly nodeId: NodeId
  readonly generation: number
}

/** Undefined if there is no such file, or if it is from another enrollment. Throws if the file is unusable. */
export async function readOwnFile<T extends Owned>(
  path: string,
  shape: Shape<T>,
  { nodeId, generation }: Owned,
): Promise<T | undefined> {
  const text = await readIfExists(path)
  if (text === undefined) return undefined
  const file = decodeOpen(shape, JSON.parse(text))
  return file.nodeId === nodeId && file.generation === generation ? file : undefined
}
