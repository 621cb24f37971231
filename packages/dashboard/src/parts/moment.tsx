// A time as people read it: local, or its age; the exact time in UTC on hover.

import { formatAge, formatTime, formatUtc } from '../texts/format.ts'
import { useNow } from './use-now.ts'

interface Props {
  readonly iso: string
  /** Shows how long ago it was instead of the time. */
  readonly age?: boolean
}

export function Moment({ iso, age = false }: Props) {
  const now = useNow()
  return (
    <time dateTime={iso} title={formatUtc(iso)}>
      {age ? formatAge(iso, now) : formatTime(iso, now)}
    </time>
  )
}
