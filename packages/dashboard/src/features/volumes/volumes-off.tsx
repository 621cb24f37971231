// The page of volumes on a platform that has them switched off: why there is nothing, and how they are enabled.

import { Notice } from '../../parts/notice.tsx'
import { ListPage } from '../../parts/resource/list-page.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { resourceEquivalents } from '../../texts/resource-commands.ts'

export function VolumesOff() {
  return (
    <ListPage title={volumeTexts.title} count={undefined} same={resourceEquivalents.volumes()}>
      <Notice severity="info" title={volumeTexts.off}>
        <p>{volumeTexts.offNext}</p>
        <code>HOLDFAST_VOLUMES_ENABLED=true</code>
        <p>
          <a href="/docs/guides/a-database-that-keeps-its-data">{volumeTexts.offGuide}</a>
        </p>
      </Notice>
    </ListPage>
  )
}
