package main

import (
	"context"
	"fmt"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/rig"
)

// scene is what the pictures of one language show.
type scene struct {
	language, suffix string
	// folders are the workspaces, the first one holds the drafts.
	folders []string
	// sent are ordinary sessions: what was asked, and the session's title.
	sent []struct{ prompt, title string }
	// drafts from the oldest to the newest; the newest is open.
	drafts []string
}

var scenes = []scene{
	{
		language: "en-US", suffix: "en",
		folders: []string{"web-shop", "notes"},
		sent: []struct{ prompt, title string }{
			{"Why does the cart total differ by one cent?", "Cart total off by one cent"},
			{"Add a health check to the server.", "Health check for the server"},
		},
		drafts: []string{
			"Move the session tokens out of the URL",
			"Try the new bundler on a branch and compare cold starts 🚀",
			"Write release notes for 2.4",
			"Split the checkout form into steps\n\n1. address, 2. delivery, 3. payment\nKeep what was typed when one goes back. Tests for the browser's back button.",
		},
	},
	{
		language: "zh-CN", suffix: "zh",
		folders: []string{"网上商店", "笔记"},
		sent: []struct{ prompt, title string }{
			{"为什么购物车总价差一分钱？", "购物车总价差一分钱"},
			{"给服务器加一个健康检查。", "服务器健康检查"},
		},
		drafts: []string{
			"把会话令牌从网址中移走",
			"在分支上试试新的打包工具，比较冷启动 🚀",
			"写 2.4 版的发布说明",
			"把结账表单拆成几个步骤\n\n1. 地址 2. 配送 3. 付款\n返回上一步时保留已填写的内容，并为浏览器的返回按钮写测试。",
		},
	},
}

// open is the text of the draft that the picture shows.
func (s scene) open() string { return s.drafts[len(s.drafts)-1] }

// setUp fills a running home and gives the id of the draft to open.
func (s scene) setUp(ctx context.Context, home *rig.Home) (string, error) {
	var workspace string
	// The newest workspace comes first in the page.
	for i := len(s.folders) - 1; i >= 0; i-- {
		made, err := home.NewWorkspace(ctx, s.folders[i])
		if err != nil {
			return "", err
		}
		workspace = made.ID
	}
	for _, ordinary := range s.sent {
		session, err := home.API.CreateSession(ctx, workspace, "")
		if err != nil {
			return "", err
		}
		if err := home.API.Prompt(ctx, session, ordinary.prompt); err != nil {
			return "", err
		}
		if err := answered(ctx, home, ordinary.prompt); err != nil {
			return "", err
		}
		if err := home.API.RenameSession(ctx, session, ordinary.title); err != nil {
			return "", err
		}
	}
	var last string
	for _, text := range s.drafts {
		draft, err := home.API.NewDraft(ctx, workspace, text)
		if err != nil {
			return "", err
		}
		last = draft.ID
	}
	return last, nil
}

// answered waits until the model has seen a prompt and its title request.
func answered(ctx context.Context, home *rig.Home, prompt string) error {
	const requests = 2
	deadline := time.Now().Add(patience)
	for home.Model.Seen(prompt) < requests {
		if time.Now().After(deadline) {
			return fmt.Errorf("the model has not seen the prompt %d times", requests)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
