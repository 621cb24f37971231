// The buttons that add a copy to a volume and change its size.

import type { Volume } from '@holdfast/contract'
import { useState } from 'react'
import { useWrite } from '../../api/resources/use-write.ts'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { AddReplica } from './add-replica.tsx'
import { ResizeVolume } from './resize-volume.tsx'

interface Props {
  readonly volume: Volume
  onDone(text: string): void
}

export function VolumeActions({ volume, onDone }: Props) {
  const { closed } = useWrite('volumes:write', useStale())
  const [opened, setOpened] = useState<'replica' | 'resize'>()
  const close = (): void => setOpened(undefined)
  const dialog = {
    volume,
    onClose: close,
    onDone(text: string) {
      close()
      onDone(text)
    },
  }
  return (
    <>
      {volume.class === 'replicated' ? (
        <ActButton
          label={volumeTexts.addReplica}
          closed={closed}
          running={false}
          onAct={() => setOpened('replica')}
        />
      ) : null}
      <ActButton
        label={volumeTexts.resize}
        closed={closed}
        running={false}
        onAct={() => setOpened('resize')}
      />
      {opened === 'replica' ? <AddReplica {...dialog} /> : null}
      {opened === 'resize' ? <ResizeVolume {...dialog} /> : null}
    </>
  )
}
