// Texts of failures, of the outcome of changes, and of their effects.

import { formatCount } from '../format.ts'

export const outcomeTexts = {
  failures: {
    unreachable: 'The server did not answer.',
    unreachableNext: 'The page tries again when the connection is back.',
    unexpected: 'The server could not answer.',
    unexpectedNext: 'Try again. If it stays, give the administrator the text above.',
    rejected: 'The server refused the request.',
    conflictNext: 'The page shows it as it is now. Check it, then try again.',
    notFound: (what: string) => `${what} does not exist.`,
    interrupted: 'The request was stopped.',
    again: 'Try again',
    expected: 'Expected',
    received: 'Received',
    learn: 'About this code',
    page: 'This page failed to load.',
    pageNext: 'A newer version may have been installed. Reload the page.',
    reload: 'Reload',
  },

  acts: {
    running: 'Asking the server',
    unknown: 'Not known whether it was done: no answer arrived.',
    ask: 'Ask again',
    undo: 'Undo',
    failed: 'Not done.',
    changed: 'The effects have changed since you read them. Nothing was done; read them again.',
  },

  effects: {
    lost: (volume: string, reason: string) => `The data of ${volume} is lost: ${reason}`,
    unrouted: (route: string, reason: string) => `${route} is not served: ${reason}`,
    unplaced: (replicas: number, reason: string) =>
      `${formatCount(replicas, 'replica')} ${replicas === 1 ? 'stays' : 'stay'} without a node: ${reason}`,
    stops: (replica: number, node: string) => `Replica ${replica} on ${node} stops`,
    moves: (replica: number, from: string, to: string) => `Replica ${replica} moves from ${from} to ${to}`,
    restarts: (replica: number, node: string) => `Replica ${replica} is recreated on ${node}`,
    lowest: (ready: number, desired: number) => {
      if (desired === 0) return 'No replica stays'
      if (ready === 0) return 'At times no replica is ready'
      const are = `${ready} of ${formatCount(desired, 'replica')} ${ready === 1 ? 'is' : 'are'} ready`
      return ready < desired ? `At times only ${are}` : `At all times ${are}`
    },
    omitted: (reason: string) => `Further effects are not listed: ${reason}`,
  },
} as const
