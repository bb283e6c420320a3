package flows

import "testing"

// Flow is one end-to-end flow.
type Flow struct {
	Name string
	Run  func(t *testing.T, h *Home)
}

// All are the flows that every host passes, each on a home of its own.
var All = []Flow{
	{"SwitchingKeepsEachDraftsOwnText", switchingKeepsEachDraftsOwnText},
	{"TextsComeBackExactly", textsComeBackExactly},
	{"CarriageReturnsSurviveLooking", carriageReturnsSurviveLooking},
	{"WriteLeaveComeBackAndSend", writeLeaveComeBackAndSend},
	{"SavedDraftsSurviveSigtermAndSigkill", savedDraftsSurviveSigtermAndSigkill},
	{"VanishedSessionIsMadeAgain", vanishedSessionIsMadeAgain},
	{"ReloadThenTypeIsSaved", reloadThenTypeIsSaved},
	{"NoPluginOutlivesAKilledHost", noPluginOutlivesAKilledHost},
	{"ManyDraftsHaveSessionsOfTheirOwn", manyDraftsHaveSessionsOfTheirOwn},
	{"LongLogWithoutAPromptIsNoSend", longLogWithoutAPromptIsNoSend},
	{"AcceptedSend", acceptedSend},
	{"RejectedSend", rejectedSend},
	{"ModelSeesNothingBeforeSend", modelSeesNothingBeforeSend},
	{"KilledAfterAcceptance", killedAfterAcceptance},
	{"KilledAfterSendFromThePage", killedAfterSendFromThePage},
	{"EditReachesAnotherBrowser", editReachesAnotherBrowser},
	{"CompositionIsNotDisturbed", compositionIsNotDisturbed},
	{"BothTypingLosesNeither", bothTypingLosesNeither},
	{"EditAfterDeletionBecomesANewDraft", editAfterDeletionBecomesANewDraft},
	{"EditDuringASendElsewhereIsKept", editDuringASendElsewhereIsKept},
	{"MessageFromElsewhereDetaches", messageFromElsewhereDetaches},
	{"ArchivedSessionIsMadeAgainWhenOpened", archivedSessionIsMadeAgainWhenOpened},
	{"ArchivedWhileOpen", archivedWhileOpen},
	{"PluginKilledWhileTyping", pluginKilledWhileTyping},
	{"NewDraftWhileThePluginIsDown", newDraftWhileThePluginIsDown},
	{"NotSavedIsSaid", notSavedIsSaid},
	{"AnOlderFileIsPutInPlace", anOlderFileIsPutInPlace},
	{"UnreadableFilesAreLeftAlone", unreadableFilesAreLeftAlone},
	{"DeleteAndUndo", deleteAndUndo},
	{"TerminalBesideTwoBrowsers", terminalBesideTwoBrowsers},
	{"ChordsMakeADraft", chordsMakeADraft},
}
