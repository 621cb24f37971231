// Every text of the dashboard. Sentences of the server (reasons, remedies, rejections) are shown as sent and are not here.

import { chartTexts } from './en/charts.ts'
import { deploymentTexts } from './en/deployments.ts'
import { editor } from './en/editor.ts'
import { nodeTexts } from './en/nodes.ts'
import { drainTexts, joinTexts, oneTimeTexts, removeTexts } from './en/operations.ts'
import { outcomeTexts } from './en/outcomes.ts'
import { overviewTexts } from './en/overview.ts'
import { change, plan } from './en/plan.ts'
import { platformTexts } from './en/platform.ts'
import { scaling } from './en/scaling.ts'
import { secretTexts } from './en/secrets.ts'
import { shellTexts } from './en/shell.ts'
import { terminal } from './en/terminal.ts'

export const texts = {
  product: 'Holdfast',
  ...shellTexts,
  ...outcomeTexts,
  ...overviewTexts,
  ...deploymentTexts,
  ...nodeTexts,
  plan,
  change,
  editor,
  scaling,
  charts: chartTexts,
  drain: drainTexts,
  join: joinTexts,
  oneTime: oneTimeTexts,
  platform: platformTexts,
  remove: removeTexts,
  secrets: secretTexts,
  terminal,
} as const
