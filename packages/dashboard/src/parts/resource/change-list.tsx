// The fields that a planned change would alter: before and after.

import { resourceTexts } from '../../texts/en/resources.ts'
import { Fact, Facts } from './facts.tsx'

interface Props {
  readonly changes: readonly { readonly name: string; readonly from: string; readonly to: string }[]
}

export function ChangeList({ changes }: Props) {
  return changes.length === 0 ? null : (
    <Facts>
      {changes.map(({ name, from, to }) => (
        <Fact key={name} name={name}>
          {resourceTexts.change(from, to)}
        </Fact>
      ))}
    </Facts>
  )
}
