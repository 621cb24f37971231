// The changes of the primary, the newest first, each with what it lost.

import type { Volume } from '@holdfast/contract'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { formatDuration } from '../../texts/format.ts'
import styles from './volume-page.module.css'

type Promotion = Volume['promotions'][number]

export function Promotions({ volume: { promotions } }: { readonly volume: Volume }) {
  return (
    <Panel title={volumeTexts.promotions}>
      {promotions.length === 0 ? <p className={styles.none}>{volumeTexts.noPromotion}</p> : null}
      <ol>
        {promotions.map((promotion) => (
          <li key={promotion.toEpoch} className={styles.line}>
            <Moment iso={promotion.at} />
            <span>
              {volumeTexts.promotion(
                promotion.fromName,
                promotion.toName,
                promotion.fromEpoch,
                promotion.toEpoch,
              )}
            </span>
            <span className={styles.muted}>
              {lossOf(promotion)}; {volumeTexts.causes[promotion.cause]}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}

const lossOf = ({ lossMs }: Promotion): string =>
  lossMs === null ? volumeTexts.lossUnknown : volumeTexts.lost(formatDuration(lossMs))
