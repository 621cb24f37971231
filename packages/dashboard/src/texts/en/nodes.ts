// Texts of nodes: the list, one node, and whether it accepts new replicas.

import { formatCount } from '../format.ts'

export const nodeTexts = {
  nodes: {
    name: 'Name',
    status: 'Status',
    replicas: 'Replicas',
    cpu: 'CPU',
    memory: 'Memory',
    country: 'Country',
    since: 'Since',
    count: (count: number, more: boolean) => `${formatCount(count, 'node')}${more ? ' and more' : ''}`,
    cordoned: 'cordoned',
    draining: 'draining',
    closedBy: (author: string) => `by ${author},`,
    unknown: 'This node',
    all: 'All nodes',
    facts: 'Facts',
    requested: (used: string, capacity: string) => `${used} requested of ${capacity}`,
    storage: 'Storage pool',
    engine: 'Docker Engine',
    agent: 'Agent',
    never: 'not connected yet',
    outdated: (version: string) => `${version}, older than the server: upgrade it`,
    heard: 'Last heartbeat',
    role: 'Role',
    controlPlane: 'control-plane node',
    place: 'Country',
    labels: 'Labels',
    noLabels: 'none',
    onIt: 'Replicas on this node',
    nothingOnIt: 'No replica is on this node.',
    replica: (name: string, replica: number) => `${name}/${replica}`,
    leaving: 'leaving',
    volumesOnIt: 'Volumes on this node',
    noVolumeOnIt: 'No volume has a copy on this node.',
    drain: 'Drain',
    showDrain: 'Show the effects of a drain',
    drainNothing: 'A drain would move nothing and stop nothing.',
  },

  cordon: {
    cordon: (node: string) => `Cordon ${node}`,
    uncordon: (node: string) => `Uncordon ${node}`,
    done: {
      cordon: (node: string) => `${node} accepts no new replicas. Those on it keep running.`,
      uncordon: (node: string) => `${node} accepts new replicas.`,
    },
  },
} as const
