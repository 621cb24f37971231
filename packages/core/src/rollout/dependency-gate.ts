// Decides whether replicas of a deployment may be created now. `dependsOn` is checked when a replica is created or
// recreated, not all the time. `healthy` requires that every desired replica of the dependency is ready, `started` that
// every desired replica is running or ready; both require at least one replica. See docs/design/rollouts.md#dependencies

import type { Assignment, AssignmentId, DeploymentSpec, NodeId, Observation } from '@holdfast/contract'
import { isReady } from '../node/observe-replica.ts'

export interface Dependency {
  readonly replicas: number
  readonly deleting: boolean
  readonly assignments: readonly Assignment[]
  seen(id: AssignmentId): Pick<Observation, 'state' | 'reason'> | undefined
  /** Whether a node is lost, so that the last observations of its replicas are no longer valid. */
  isLost(nodeId: NodeId): boolean
}

export interface UnmetDependency {
  readonly name: string
  /** A clause for messages that names the dependency, its required state and its actual state. */
  readonly text: string
}

export function unmetDependencies(
  { dependsOn = {} }: Pick<DeploymentSpec, 'dependsOn'>,
  find: (name: string) => Dependency | undefined,
): UnmetDependency[] {
  return Object.entries(dependsOn).flatMap(([name, condition]) => {
    const lacks = whatItLacks(find(name), condition)
    return lacks === undefined ? [] : [{ name, text: `${name} must be ${condition} but ${lacks}` }]
  })
}

function whatItLacks(other: Dependency | undefined, condition: 'healthy' | 'started'): string | undefined {
  if (other === undefined) return 'does not exist'
  if (other.deleting) return 'is being deleted'
  if (other.replicas === 0) return 'is stopped: it has 0 replicas'
  const fit = other.assignments.filter(
    ({ id, nodeId, desired }) =>
      desired === 'running' && !other.isLost(nodeId) && isAs(condition, other.seen(id)),
  )
  const numbers = new Set(fit.map(({ replica }) => replica).filter((replica) => replica <= other.replicas))
  if (numbers.size === other.replicas) return undefined
  return `has ${numbers.size} of ${other.replicas} replicas ${condition === 'healthy' ? 'ready' : 'running'}`
}

function isAs(
  condition: 'healthy' | 'started',
  seen: Pick<Observation, 'state' | 'reason'> | undefined,
): boolean {
  if (seen === undefined) return false
  if (condition === 'healthy') return isReady(seen)
  return seen.state === 'running' || seen.state === 'ready'
}

export const dependencyText = (unmet: readonly UnmetDependency[]): string =>
  `Waits for its dependencies: ${unmet.map(({ text }) => text).join('; ')}.`
