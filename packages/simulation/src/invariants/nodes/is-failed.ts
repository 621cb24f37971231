// Whether the replicas of a node count as lost: the node has failed, or its engine was silent for as long.

import { hasFailedEngine } from '@holdfast/core'
import type { StoredNode } from '@holdfast/server/store/records'

export const isFailed = (node: StoredNode | undefined): boolean =>
  node !== undefined && (node.status === 'failed' || hasFailedEngine(node))
