// The facts of a job: what it runs, where, how often, and how it ended.

import type { JobRecord } from '@holdfast/contract'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Fact, Facts } from '../../parts/resource/facts.tsx'
import { jobTexts } from '../../texts/en/jobs.ts'

export function JobFacts({ job }: { readonly job: JobRecord }) {
  const { image, command, args = [], retries, timeout, onNodeLoss, networks = [], secrets, status } = job
  const words = [...(command ?? []), ...args]
  return (
    <Panel title={jobTexts.facts}>
      <Facts>
        <Fact name={jobTexts.node}>{status.nodeName ?? jobTexts.noNode}</Fact>
        <Fact name={jobTexts.attempts}>{jobTexts.attemptsOf(status.attempts, retries + 1)}</Fact>
        {status.exitCode === null ? null : <Fact name={jobTexts.exitCode}>{status.exitCode}</Fact>}
        <Time name={jobTexts.created} iso={job.createdAt} />
        <Time name={jobTexts.started} iso={status.startedAt} />
        <Time name={jobTexts.finished} iso={status.finishedAt} />
        <Time name={jobTexts.retryAt} iso={status.retryAt ?? null} />
        <Fact name={jobTexts.timeout}>{timeout}</Fact>
        <Fact name={jobTexts.onNodeLoss}>{jobTexts.nodeLoss[onNodeLoss]}</Fact>
        {networks.length === 0 ? null : <Fact name={jobTexts.networks}>{networks.join(', ')}</Fact>}
        {secrets.length === 0 ? null : (
          <Fact name={jobTexts.secrets}>{secrets.map(({ name }) => name).join(', ')}</Fact>
        )}
        <Fact name={jobTexts.image}>
          <code>{image}</code>
        </Fact>
        <Fact name={jobTexts.command}>
          {words.length === 0 ? jobTexts.imageCommand : <code>{words.join(' ')}</code>}
        </Fact>
      </Facts>
    </Panel>
  )
}

const Time = ({ name, iso }: { readonly name: string; readonly iso: string | null }) =>
  iso === null ? null : (
    <Fact name={name}>
      <Moment iso={iso} />
    </Fact>
  )
