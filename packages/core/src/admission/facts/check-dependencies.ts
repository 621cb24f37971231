// Checks the dependencies of a deployment: they exist, have a health check if `healthy` is required, and form no cycle
// and no chain above the limit. A deployment must also keep the health check that other deployments wait for.

import { type Code, childPath, type DeploymentSpec, type Rejection, type Warning } from '@holdfast/contract'
import { safeKey } from '../../credentials/index.ts'
import type { Limits } from '../../limits.ts'
import { reject } from '../../reject.ts'
import type { DependencyFact, DistanceFact } from './facts.ts'

type Graph = ReadonlyMap<string, DependencyFact>

export function checkDependencies(spec: DeploymentSpec, graph: Graph, limits: Limits): Rejection[] {
  const depths = new Map<string, number>()
  const accepted = 'healthy for a deployment with a healthCheck, otherwise started'
  return Object.entries(spec.dependsOn ?? {}).flatMap(([name, gate]) => {
    const code = faultOf(name, gate)
    return code === undefined ? [] : [reject(code, childPath('dependsOn', safeKey(name)), gate, { accepted })]
  })

  function faultOf(name: string, gate: string): Code | undefined {
    const dependency = graph.get(name)
    if (dependency === undefined) return 'dependency_not_found'
    if (gate === 'healthy' && !dependency.hasHealthCheck) return 'dependency_has_no_health_check'
    return depthOf(name, spec.name, graph, depths) > limits.dependencyDepth ? 'dependency_invalid' : undefined
  }
}

/** Rejects a deployment without a health check while other deployments wait until the deployment is healthy. */
export function checkDependents(spec: DeploymentSpec, dependents: readonly string[]): Rejection[] {
  if (spec.healthCheck !== undefined || dependents.length === 0) return []
  const accepted = `a health check, because these deployments wait until ${spec.name} is healthy: ${dependents.join(', ')}`
  return [reject('dependency_has_no_health_check', 'healthCheck', undefined, { accepted })]
}

/** The most dependents that a warning names. */
const MOST_NAMED = 20

/** Warns that a deployment which is being deleted leaves deployments behind that depend on it. */
export function warnOfDependents(name: string, dependents: readonly string[]): Warning[] {
  if (dependents.length === 0) return []
  const named = dependents.slice(0, MOST_NAMED).join(', ')
  const more = dependents.length - MOST_NAMED
  const all = more > 0 ? `${named} and ${more} more` : named
  const depend = dependents.length === 1 ? `${all} depends` : `${all} depend`
  const why = `${depend} on ${name}. Running replicas continue, but a replica that is created or recreated waits until ${name} exists again. Remove ${name} from dependsOn there, or create it again.`
  return [{ code: 'dependents_left', field: 'name', why }]
}

/**
 * Warns of dependencies that may run on other nodes. A name resolves only on the nodes that run the deployment, because the
 * tenant's network does not span nodes. Affinity, one node by `nodeId` for both, or a single schedulable node keep them together.
 */
export function warnOfDistance(
  { dependsOn = {}, placement, nodeId }: DeploymentSpec,
  { schedulableNodes, nodeIds }: DistanceFact,
): Warning[] {
  if (schedulableNodes <= 1) return []
  const isTogether = (name: string): boolean =>
    placement?.affinity?.includes(name) === true || (nodeId !== undefined && nodeIds.get(name) === nodeId)
  return Object.keys(dependsOn)
    .filter((name) => !isTogether(name))
    .map((name) => ({
      code: 'dependency_elsewhere',
      field: childPath('dependsOn', safeKey(name)),
      why: `The name ${safeKey(name)} resolves only on nodes that run ${safeKey(name)}, and this deployment may run on others. To keep them on the same nodes, set placement.affinity: [${safeKey(name)}]; or connect through a route of ${safeKey(name)}.`,
    }))
}

/** Number of levels in the longest dependency chain below a deployment; infinite for a cycle. */
function depthOf(name: string, root: string, graph: Graph, known: Map<string, number>): number {
  if (name === root) return Number.POSITIVE_INFINITY
  const before = known.get(name)
  if (before !== undefined) return before
  // The depth of a name is infinite while its dependencies are visited, so that a cycle gives an infinite depth.
  known.set(name, Number.POSITIVE_INFINITY)
  let deepest = 0
  for (const next of graph.get(name)?.dependsOn ?? []) {
    deepest = Math.max(deepest, depthOf(next, root, graph, known))
  }
  known.set(name, deepest + 1)
  return deepest + 1
}
