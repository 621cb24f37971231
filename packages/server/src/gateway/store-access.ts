// Tracks whether this gateway is cut off from a store that other server replicas reach. A cut-off gateway refuses hellos and
// ends its sessions, because the others soon declare its nodes failed. See docs/design/liveness.md#cut-off

import { judgeStoreAccess, type StoreAccess as Verdict } from '@holdfast/core'
import type { GatewayContext } from './deps.ts'
import type { OthersView } from './peers/view-calls.ts'
import type { Session } from './session/session.ts'

export interface StoreAccess {
  readonly isCutOff: boolean
  /** Updates the verdict. `stoodStillMs`: how long this process was suspended since the last call. */
  check(now: number, stoodStillMs: number): void
  /** Whether the session must end now. Each session of a cut-off gateway ends at a random time. */
  mustEnd(session: Session, now: number): boolean
}

type AccessContext = Pick<GatewayContext, 'detector' | 'times' | 'log' | 'acceptsAgents'>

interface State {
  verdict: Verdict
  freshAt: number
  /** Time since `freshAt` for which this process was suspended and could not have noticed an answer. */
  stoodStillMs: number
  /** Since when other server replicas have reported a fresh view without interruption. */
  othersFreshSince: number | undefined
  lastView: OthersView | undefined
  asking: boolean
  askAt: number
  /** When each session ends, chosen once per cut-off. */
  ends: WeakMap<Session, number>
}

export function createStoreAccess(
  context: AccessContext,
  askOthers: () => Promise<OthersView>,
  random: () => number = Math.random,
): StoreAccess {
  const { detector, times, acceptsAgents = true } = context
  const state: State = { ...reached(detector.freshAt), verdict: 'reached', asking: false }
  return {
    get isCutOff() {
      return state.verdict === 'cut_off'
    },
    check(now, stoodStillMs) {
      if (!acceptsAgents) return
      if (detector.freshAt !== state.freshAt) Object.assign(state, reached(detector.freshAt))
      else countSuspension(state, stoodStillMs)
      const withoutViewMs = now - state.freshAt - state.stoodStillMs
      if (withoutViewMs >= times.awayMs) ask(state, askOthers, now, times.askOthersMs)
      state.othersFreshSince = state.lastView?.fresh === true ? (state.othersFreshSince ?? now) : undefined
      const othersFreshMs = state.othersFreshSince && now - state.othersFreshSince
      const verdict = judgeStoreAccess({ withoutViewMs, othersFreshMs }, times)
      if (verdict !== state.verdict) logChange(context, state, verdict, withoutViewMs)
      state.verdict = verdict
    },
    mustEnd(session, now) {
      if (state.verdict !== 'cut_off') return false
      const endsAt = state.ends.get(session) ?? now + times.cutOffSpreadMs * random()
      state.ends.set(session, endsAt)
      return now >= endsAt
    },
  }
}

const reached = (freshAt: number): Omit<State, 'verdict' | 'asking'> => ({
  freshAt,
  stoodStillMs: 0,
  othersFreshSince: undefined,
  lastView: undefined,
  askAt: 0,
  ends: new WeakMap(),
})

/** The answers of a suspended process are still unread, so the suspended time proves nothing. */
function countSuspension(state: State, ms: number): void {
  state.stoodStillMs += ms
  if (state.othersFreshSince !== undefined) state.othersFreshSince += ms
}

function ask(state: State, askOthers: () => Promise<OthersView>, now: number, everyMs: number): void {
  if (state.asking || now < state.askAt) return
  const { freshAt } = state
  state.asking = true
  state.askAt = now + everyMs
  void askOthers()
    .then((view) => {
      // A fresh view of this replica has made the question pointless.
      if (state.freshAt === freshAt) state.lastView = view
    })
    .finally(() => {
      state.asking = false
    })
}

function logChange(
  { log }: Pick<AccessContext, 'log'>,
  { verdict: before, lastView }: State,
  verdict: Verdict,
  withoutViewMs: number,
): void {
  const facts = { withoutViewMs: Math.round(withoutViewMs), others: lastView?.others ?? {} }
  if (verdict === 'cut_off')
    log.warn(facts, 'store unreachable from this server but not from others, ending its agent sessions')
  if (verdict === 'alone')
    log.warn(facts, 'store unreachable and no other server known to reach it, keeping agent sessions')
  if (before === 'cut_off' && verdict === 'reached') log.info({}, 'store reached again, accepting agents')
}
