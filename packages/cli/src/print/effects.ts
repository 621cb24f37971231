// Prints the effects of a planned change: first how many replicas and routes it concerns, then each of them.

import type { Effects, PlanStep } from '@holdfast/contract'
import { print, type Terminal } from '../terminal/terminal.ts'
import { outArea } from './area.ts'
import { count } from './count.ts'
import { plain } from './plain.ts'
import { hang } from './table.ts'

export function printEffects(terminal: Terminal, effects: Effects): void {
  for (const line of [summaryOf(effects), ...detailsOf(effects).map((detail) => `  ${detail}`)])
    printIndented(terminal, line)
}

/** Prints what the platform would do. A step of another deployment than `own` begins with its name. */
export function printSteps(terminal: Terminal, steps: readonly PlanStep[], own?: string): void {
  for (const { deployment, text } of steps)
    printIndented(terminal, deployment === own ? text : `${deployment}: ${text}`)
}

function printIndented(terminal: Terminal, text: string): void {
  const [, blanks = '', rest = ''] = /^( *)(.*)$/s.exec(text) ?? []
  for (const line of hang(`  ${blanks}`, plain(rest), outArea(terminal).columns)) print(terminal, line)
}

const unlessZero = (amount: number, one: string, many: string): string[] =>
  amount === 0 ? [] : [count(amount, one, many)]

function summaryOf(effects: Effects): string {
  const { moves, restarts, stops, unplaced, unrouted, lostData, lowestReady, omitted } = effects
  const without = unplaced.reduce((sum, { replicas }) => sum + replicas, 0)
  const fewer = lowestReady.filter(({ ready, desired }) => ready < desired)
  const parts = [
    ...unlessZero(moves.length, 'replica moves', 'replicas move'),
    ...unlessZero(restarts.length, 'replica restarts', 'replicas restart'),
    ...unlessZero(stops.length, 'replica stops', 'replicas stop'),
    ...unlessZero(without, 'replica has no node', 'replicas have no node'),
    ...unlessZero(unrouted.length, 'route reaches no replica', 'routes reach no replica'),
    ...lossesOf(lostData),
    ...unlessZero(
      fewer.length,
      'deployment has fewer ready replicas',
      'deployments have fewer ready replicas',
    ),
    ...unlessZero(
      omitted.length,
      'deployment is not planned to its end',
      'deployments are not planned to their end',
    ),
  ]
  return `Effects: ${parts.length === 0 ? 'nothing that runs is affected' : parts.join(', ')}.`
}

/** A volume that is deleted loses all of its data, one that is promoted only the last writes. */
function lossesOf(lostData: Effects['lostData']): string[] {
  const whole = lostData.filter(({ seconds }) => seconds === undefined)
  const unknown = lostData.filter(({ seconds }) => seconds === null)
  const bounds = lostData.flatMap(({ seconds }) =>
    typeof seconds === 'number' && seconds > 0 ? [seconds] : [],
  )
  const last = `at most the last ${Math.max(0, ...bounds)} s of writes`
  return [
    ...unlessZero(whole.length, 'volume loses its data', 'volumes lose their data'),
    ...unlessZero(bounds.length, `volume loses ${last}`, `volumes lose ${last}`),
    ...unlessZero(
      unknown.length,
      'volume loses writes of an unknown time',
      'volumes lose writes of an unknown time',
    ),
  ]
}

const REASONS: { readonly [reason in Effects['stops'][number]['reason']]: string } = {
  new_replica: 'it is new',
  template_changed: 'its container changes',
  restart: 'a restart is requested',
  no_longer_qualifies: 'its node no longer qualifies',
  node_leaving: 'its node is being emptied',
  node_lost: 'its node is lost or removed',
  not_desired: 'it is no longer desired',
}

const UNROUTED: { readonly [reason in Effects['unrouted'][number]['reason']]: string } = {
  route_removed: 'the route is removed',
  deployment_deleted: 'the deployment is deleted',
  no_ready_replica: 'no replica is ready for a while',
}

const nameOf = ({
  deployment,
  replica,
  canary,
}: Pick<Effects['stops'][number], 'deployment' | 'replica' | 'canary'>) =>
  `${deployment}/${replica}${canary === true ? ' (canary)' : ''}`

function detailsOf(effects: Effects): string[] {
  const { moves, restarts, stops, unplaced, unrouted, lostData, lowestReady, omitted } = effects
  return [
    ...moves.map(
      ({ from, to, reason, ...named }) => `${nameOf(named)} moves from ${from} to ${to}: ${REASONS[reason]}`,
    ),
    ...restarts.map(
      ({ from, to, reason, ...named }) =>
        `${nameOf(named)} restarts ${from === to ? `on ${to}` : `and moves from ${from} to ${to}`}: ${REASONS[reason]}`,
    ),
    ...stops.map(({ node, reason, ...named }) => `${nameOf(named)} on ${node} stops: ${REASONS[reason]}`),
    ...unplaced.map(
      ({ deployment, replicas, canary, reason }) =>
        `${canary === true ? `the canary of ${deployment}` : deployment} has ${count(replicas, 'replica')} without a node: ${reason}`,
    ),
    ...unrouted.map(
      ({ deployment, host, path, reason }) =>
        `${host}${path} reaches no replica of ${deployment}: ${UNROUTED[reason]}`,
    ),
    ...lostData.map(({ volume, reason, seconds }) =>
      seconds === undefined
        ? `the data of volume ${volume} is lost: ${reason}`
        : `volume ${volume}: ${reason}`,
    ),
    ...lowestReady.map(
      ({ deployment, ready, desired, reason }) =>
        `${deployment} has at least ${ready} of ${desired} replicas ready. ${reason}`,
    ),
    ...omitted.map(({ deployment, reason }) => `${deployment}: ${reason}`),
  ]
}
