// The containers of a simulated machine as its engine lists and inspects them, and as the invariants see them.

import { type OwnContainer, type SeenContainer, writtenVolumes } from '@holdfast/core/node'
import type { Container, Machine } from './machine.ts'
import type { ContainerState, SimulatedContainer } from './snapshot.ts'

/** A container in the form of the engine's container list. */
export const listed = ({
  id,
  name,
  state,
  createdAt,
  assignmentId,
  generation,
  owner,
}: Container): OwnContainer => ({
  id,
  name,
  state,
  createdAt,
  assignmentId,
  generation,
  owner,
})

export function inspected(container: Container): SeenContainer {
  const { id, state, startedWallMs, exitCode, restarts, hasCheck, ready, unhealthy } = container
  return {
    id,
    state,
    exitCode,
    restarts,
    address: null,
    startedAt: startedWallMs === undefined ? null : new Date(startedWallMs).toISOString(),
    health: !hasCheck ? 'none' : ready ? 'healthy' : unhealthy ? 'unhealthy' : 'starting',
  }
}

export function containersOf({ containers }: Machine): SimulatedContainer[] {
  return [...containers.values()].map((container) => {
    const { id, assignmentId, owner, templateHash, startedAt, template } = container
    const writes = writtenVolumes(template)
    const networks = networksOf(container)
    return {
      id,
      assignmentId,
      owner,
      templateHash,
      startedAt,
      writes,
      state: stateOf(container),
      ...networks,
    }
  })
}

const networksOf = ({ template, attached }: Container): Pick<SimulatedContainer, 'networks'> =>
  template.networks === undefined ? {} : { networks: { joined: template.networks, attached: [...attached] } }

function stateOf({ state, stopping, ready, unhealthy }: Container): ContainerState {
  if (state !== 'running') return state === 'created' ? 'starting' : 'exited'
  if (stopping) return 'stopping'
  return ready ? 'ready' : unhealthy ? 'unhealthy' : 'running'
}
