// How current the shown data is: live, reconnecting, or offline. A pure reducer of what the tab with the stream observes.

export type LiveState =
  /** The stream is open. `heardAt` is the time of the last message. */
  | { readonly kind: 'live'; readonly heardAt: number }
  /** The stream is being opened; `heardAt` is absent before the first message. */
  | {
      readonly kind: 'reconnecting'
      readonly since: number
      readonly heardAt?: number
      readonly reason: string
    }
  | { readonly kind: 'offline'; readonly since: number; readonly heardAt?: number; readonly reason: string }
  /** The server ended the sign-in, so the stream is not opened again. */
  | { readonly kind: 'signed-out' }

export type LiveEvent =
  | { readonly kind: 'heard' }
  | { readonly kind: 'cut'; readonly reason: string }
  | { readonly kind: 'network-lost' }
  | { readonly kind: 'network-found' }
  | { readonly kind: 'tick' }
  | { readonly kind: 'refused' }

/** A stream that stays closed for this long is called offline. */
const OFFLINE_AFTER_MS = 10_000
/** The server sends a message every second. Data is called old before two seconds without one have passed. */
const SILENT_AFTER_MS = 1_700
/** A stream that was silent for this long is opened again: its connection may have died without a sign. */
const REOPEN_AFTER_MS = 6_000

export const initialState = (now: number): LiveState => ({
  kind: 'reconnecting',
  since: now,
  reason: 'opening',
})

export function nextState(state: LiveState, event: LiveEvent, now: number): LiveState {
  if (state.kind === 'signed-out') return state
  switch (event.kind) {
    case 'heard':
      return { kind: 'live', heardAt: now }
    case 'refused':
      return { kind: 'signed-out' }
    case 'network-lost':
      return { kind: 'offline', ...gap(state, now), reason: 'no_network' }
    case 'network-found':
      return state.kind === 'offline' ? { ...state, kind: 'reconnecting', reason: 'network_found' } : state
    case 'cut':
      return state.kind === 'offline'
        ? state
        : { kind: 'reconnecting', ...gap(state, now), reason: event.reason }
    case 'tick':
      return afterTime(state, now)
  }
}

function afterTime(state: OpenState, now: number): LiveState {
  if (state.kind === 'live')
    return now - state.heardAt >= SILENT_AFTER_MS
      ? { kind: 'reconnecting', ...gap(state, now), reason: 'silent' }
      : state
  const isLong = state.kind === 'reconnecting' && now - state.since >= OFFLINE_AFTER_MS
  return isLong ? { ...state, kind: 'offline' } : state
}

type OpenState = Exclude<LiveState, { kind: 'signed-out' }>

/** Since when there is no stream, and when it was last alive. */
function gap(state: OpenState, now: number) {
  return state.kind === 'live'
    ? { since: now, heardAt: state.heardAt }
    : { since: state.since, ...(state.heardAt === undefined ? {} : { heardAt: state.heardAt }) }
}

/** True if the shown numbers may be old: they are dimmed, and writes are closed. */
export function isStale(state: LiveState, now: number): boolean {
  if (state.kind === 'live') return false
  if (state.kind !== 'reconnecting') return true
  return state.heardAt !== undefined && now - state.heardAt >= SILENT_AFTER_MS
}

/** True if an open stream has been silent for so long that it is opened again. */
export const isDead = (state: LiveState, now: number): boolean =>
  state.kind === 'reconnecting' && state.reason === 'silent' && now - state.since >= REOPEN_AFTER_MS
