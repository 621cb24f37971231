// `npm run dev:node -- off acme-2`: powers off a machine of the development platform, powers it on (`on acme-2`), or restarts
// its agent with other labels (`label acme-2 zone=b`).

import { folderFromArguments } from './dev/dev-folder.ts'
import { sendPowerCommand } from './dev/power.ts'

const { done, text } = await sendPowerCommand(folderFromArguments([]), process.argv.slice(2))
const stream = done ? process.stdout : process.stderr
stream.write(`${text}\n`)
process.exitCode = done ? 0 : 1
