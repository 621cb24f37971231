// Whether the page is current: a word, a shape, and the time of the last message.

import { useId } from 'react'
import { useLiveState } from '../live/live-provider.tsx'
import type { LiveState } from '../live/live-state.ts'
import type { IconName } from '../parts/icon.tsx'
import { Icon } from '../parts/icon.tsx'
import { useNow } from '../parts/use-now.ts'
import { texts } from '../texts/en.ts'
import { formatTime } from '../texts/format.ts'
import styles from './live-pill.module.css'

type Shown = keyof typeof texts.live.details

const ICONS: { readonly [kind in Shown]: IconName } = {
  live: 'check',
  opening: 'arrows',
  reconnecting: 'arrows',
  offline: 'diamond',
}

function shownKind(state: LiveState): Shown {
  if (state.kind === 'signed-out') return 'offline'
  return state.kind === 'reconnecting' && state.heardAt === undefined ? 'opening' : state.kind
}

export function LivePill() {
  const state = useLiveState()
  const now = useNow()
  const kind = shownKind(state)
  const id = useId()
  const heardAt = 'heardAt' in state ? state.heardAt : undefined
  const time = heardAt === undefined ? undefined : formatTime(new Date(heardAt).toISOString(), now)
  return (
    <span className={styles.place}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the explanation must be reachable by keyboard */}
      <span className={styles.pill} data-kind={kind} role="status" tabIndex={0} aria-describedby={id}>
        <Icon name={ICONS[kind]} size={14} />
        <span>{texts.live[kind]}</span>
        {time === undefined ? null : (
          <span className={styles.time}>{kind === 'live' ? time : texts.live.asOf(time)}</span>
        )}
      </span>
      <span id={id} role="tooltip" className={styles.details}>
        {texts.live.details[kind]}
      </span>
    </span>
  )
}
